import type { Fact } from "./fact-table.ts";
import { growColumn } from "./grow-column.ts";

/**
 * A reusable set of facts, to count each once. All sessions share the sets, which is safe because reading is
 * synchronous.
 */
export class FactMarks {
  #marked = new Int32Array(256);
  #now = 0;

  /** Removes all marks. */
  clear(): void {
    // Wraps around at 32 bits.
    this.#now = (this.#now + 1) | 0;
  }

  /** Marks a fact; returns true if it was not marked yet. */
  add(fact: Fact): boolean {
    if (fact >= this.#marked.length) this.#marked = growColumn(this.#marked, fact * 2);
    if (this.#marked[fact] === this.#now) return false;
    this.#marked[fact] = this.#now;
    return true;
  }
}
