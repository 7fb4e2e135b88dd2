import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../api.ts";

/** What a streamed message holds besides words and calls: pictures, sound, and where its words come from. */
export class StreamMedia {
  readonly #images: unknown[] = [];
  readonly #annotations: unknown[] = [];
  #audio: JsonObject | undefined;
  #transcript = "";
  /** Each piece is base64 of its own. */
  readonly #sound: string[] = [];

  /** Takes in what a delta brings, or a whole message. */
  add(delta: JsonObject): void {
    for (const one of arrayOf(delta.images)) this.#images.push(one);
    for (const one of arrayOf(delta.annotations)) this.#annotations.push(one);
    const audio = objectOf(delta.audio);
    if (!audio) return;
    const { transcript, data, ...rest } = audio;
    this.#audio = { ...this.#audio, ...rest };
    this.#transcript += textOf(transcript) ?? "";
    if (textOf(data) !== undefined) this.#sound.push(data as string);
  }

  /** True once there is anything of it. */
  get hasAny(): boolean {
    return this.#images.length > 0 || this.#audio !== undefined;
  }

  /** Fields of the message; what cannot be read in part only once it is whole. */
  fields(isWhole: boolean): JsonObject {
    const sound = this.#sound.map((piece) => Buffer.from(piece, "base64"));
    const data = sound.length > 0 && isWhole ? Buffer.concat(sound).toString("base64") : undefined;
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
