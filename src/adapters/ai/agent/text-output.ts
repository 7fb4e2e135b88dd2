import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { EventSink } from "./relay-events.ts";

/** Time for which text is buffered before it becomes an entry, to limit the number of entries. */
const GATHER_MS = 250;

/** Emits the text of a reply to readers as it arrives. */
export class TextOutput {
  readonly #emit: EventSink;
  #text = "";
  #flushedMs = performance.now();
  #hasBegun = false;

  constructor(say: EventSink) {
    this.#emit = say;
  }

  /** True once any part of an answer has arrived. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async addPart(part: LanguageModelV4StreamPart): Promise<void> {
    if (part.type !== "stream-start" && part.type !== "error") this.#hasBegun = true;
    if (part.type === "text-delta") this.#text += part.delta;
    if (part.type === "text-end" || performance.now() - this.#flushedMs >= GATHER_MS) await this.flush();
  }

  /** Emits the buffered text. */
  async flush(more = ""): Promise<void> {
    const text = this.#text + more;
    this.#text = "";
    this.#flushedMs = performance.now();
    if (text !== "") await this.#emit({ type: "output", text });
  }
}
