import type { ClueTracker } from "./clue-tracker.ts";
import { LineList } from "./line-list.ts";

/** Maximum number of lines kept for later extracts; above it, the least needed are dropped down to the share. */
const MAX_LINES = 4_000;
const KEPT_SHARE = 0.75;

/** Lines of messages that have left the window and may return in an extract. The log keeps everything else. */
export class EvictedLines {
  readonly lines = new LineList();
  /** Number of the first lines whose texts are copies. */
  #copied = 0;

  /** Adds the lines of a message that leaves the window. */
  add(lines: LineList): void {
    this.lines.addAll(lines);
  }

  /**
   * Drops exact repetitions and, when there are too many lines, the least needed ones; returns the worth per token of
   * each remaining line. Clues in the window must be covered first; their lines are added when they leave.
   */
  rank(clues: ClueTracker): Float32Array {
    const { tokens, ends, clues: all } = this.lines.columns;
    const { length } = this.lines;
    const worth = new Float32Array(length);
    const isGone = new Uint8Array(length);
    let count = 0;
    for (let index = length - 1; index >= 0; index--) {
      const from = index === 0 ? 0 : (ends[index - 1] as number);
      const to = ends[index] as number;
      if (clues.hold(all, from, to)) {
        worth[index] = clues.sumWorth(all, from, to) / (tokens[index] as number);
        count++;
      } else isGone[index] = 1;
    }
    const least = count > MAX_LINES ? (worth.toSorted()[length - MAX_LINES * KEPT_SHARE] as number) : 0;
    let kept = 0;
    let copied = 0;
    this.lines.retain((index) => {
      const own = worth[index] as number;
      if (isGone[index] === 1 || own < least) return false;
      if (index < this.#copied) copied++;
      worth[kept++] = own;
      return true;
    });
    this.lines.copyTexts(copied);
    this.#copied = kept;
    return worth.subarray(0, kept);
  }
}
