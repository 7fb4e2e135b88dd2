import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import { ByteCollector } from "../../body/byte-collector.ts";
import type { JsonObject } from "../api.ts";

/** What a streamed message holds besides words and calls: pictures, sound, and where its words come from. */
export class StreamMedia {
  readonly #images: unknown[] = [];
  readonly #annotations: unknown[] = [];
  #audio: JsonObject | undefined;
  #transcript = "";
  /** Each piece is base64 of its own; decoded here. */
  readonly #sound = new ByteCollector();

  /** Takes in what a delta brings, or a whole message. */
  add(delta: JsonObject): void {
    for (const image of arrayOf(delta.images)) this.#images.push(image);
    for (const annotation of arrayOf(delta.annotations)) this.#annotations.push(annotation);
    const audio = objectOf(delta.audio);
    if (!audio) return;
    const { transcript, data, ...rest } = audio;
    this.#audio = { ...this.#audio, ...rest };
    this.#transcript += textOf(transcript) ?? "";
    if (textOf(data) !== undefined) this.#sound.add(Buffer.from(data as string, "base64"));
  }

  /** True once there is anything of it. */
  get hasAny(): boolean {
    return this.#images.length > 0 || this.#audio !== undefined;
  }

  /** Fields of the message; what cannot be read in part only once it is whole. */
  fields(isWhole: boolean): JsonObject {
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
