import type { Facts } from "./facts.ts";
import { LineList } from "./line-list.ts";

/** Lines kept for later extracts; above this the least needed go, down to the share. */
const MAX_LINES = 4_000;
const KEPT_SHARE = 0.75;

/** Lines of messages that have left the window, ready to come back: the log keeps the rest. */
export class Shelf {
  readonly lines = new LineList();

  /** Puts the lines of a message away. */
  put(lines: LineList): void {
    this.lines.addAll(lines);
  }

  /**
   * Drops lines that came again, word by word, and what is least needed of what is too much; gives the worth of those
   * that stay for each of their tokens. What the window holds is to be covered before: it comes here when it leaves.
   */
  rank(facts: Facts): Float32Array {
    const { tokens, ends, facts: all } = this.lines.columns;
    const { length } = this.lines;
    const worth = new Float32Array(length);
    const isGone = new Uint8Array(length);
    let count = 0;
    for (let index = length - 1; index >= 0; index--) {
      const from = index === 0 ? 0 : (ends[index - 1] as number);
      const to = ends[index] as number;
      if (facts.hold(all, from, to)) {
        worth[index] = facts.worthOf(all, from, to) / (tokens[index] as number);
        count++;
      } else isGone[index] = 1;
    }
    const least = count > MAX_LINES ? (worth.toSorted()[length - MAX_LINES * KEPT_SHARE] as number) : 0;
    let kept = 0;
    this.lines.retain((index) => {
      const own = worth[index] as number;
      if (isGone[index] === 1 || own < least) return false;
      worth[kept++] = own;
      return true;
    });
    return worth.subarray(0, kept);
  }
}
