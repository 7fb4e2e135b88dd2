import { countCommonPrefix } from "./align-messages.ts";
import type { CachedLine } from "./line-cache.ts";

/** Number of abandoned lines to remember, for callers that return to an earlier draft or make several calls at once. */
const MAX_LINES = 8;

/** The lines that a conversation has left last, newest first. */
export class AbandonedLines {
  #lines: readonly CachedLine[] = [];

  add(line: CachedLine): void {
    if (line.messages.length === 0) return;
    const others = this.#lines.filter(({ lineSeq }) => lineSeq !== line.lineSeq);
    this.#lines = [line, ...others].slice(0, MAX_LINES);
  }

  /** A line that begins with more than `known` of the keys. */
  findCloser(keys: readonly string[], known: number): CachedLine | undefined {
    return this.#lines.find((line) => countCommonPrefix(line.keys, keys) > known);
  }
}
