import { ByteCollector } from "../../model/base/byte-collector.ts";
import { toArray, toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";

/** The parts of a streamed message other than text and calls: images, audio, annotations. */
export class StreamMedia {
  readonly #images: unknown[] = [];
  readonly #annotations: unknown[] = [];
  #audio: WireObject | undefined;
  #transcript = "";
  /** Decoded audio; each chunk is base64 of its own. */
  readonly #sound = new ByteCollector();

  /** Adds the media of a delta or of a whole message. */
  add(delta: WireObject): void {
    for (const image of toArray(delta.images)) this.#images.push(image);
    for (const annotation of toArray(delta.annotations)) this.#annotations.push(annotation);
    const audio = toObject(delta.audio);
    if (!audio) return;
    const { transcript, data, ...rest } = audio;
    this.#audio = { ...this.#audio, ...rest };
    this.#transcript += toText(transcript) ?? "";
    if (toText(data) !== undefined) this.#sound.add(Buffer.from(data as string, "base64"));
  }

  get hasAny(): boolean {
    return this.#images.length > 0 || this.#audio !== undefined;
  }

  /** Fields of the message; images and audio data only once it is complete. */
  fields(isWhole: boolean): WireObject {
    const data = this.#sound.length > 0 && isWhole ? this.#sound.bytes.toString("base64") : undefined;
    return {
      ...(this.#images.length > 0 && isWhole && { images: this.#images }),
      ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
      ...(this.#audio && {
        audio: {
          ...this.#audio,
          ...(this.#transcript !== "" && { transcript: this.#transcript }),
          ...(data !== undefined && { data }),
        },
      }),
    };
  }
}
