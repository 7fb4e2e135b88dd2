import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Say } from "./relay.ts";

/** Words are gathered so long before they become an entry: a stream is no flood. */
const GATHER_MS = 250;

/** Hands the words of a reply on to whoever reads along, as they come. */
export class TextOutput {
  readonly #say: Say;
  #text = "";
  #saidMs = performance.now();
  #hasBegun = false;

  constructor(say: Say) {
    this.#say = say;
  }

  /** True once something of an answer has come. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async see(part: LanguageModelV4StreamPart): Promise<void> {
    if (part.type !== "stream-start" && part.type !== "error") this.#hasBegun = true;
    if (part.type === "text-delta") this.#text += part.delta;
    if (part.type === "text-end" || performance.now() - this.#saidMs >= GATHER_MS) await this.flush();
  }

  /** Says what has been gathered. */
  async flush(more = ""): Promise<void> {
    const text = this.#text + more;
    this.#text = "";
    this.#saidMs = performance.now();
    if (text !== "") await this.#say({ type: "output", text });
  }
}
