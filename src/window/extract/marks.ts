import type { Fact } from "./fact-table.ts";
import { grown } from "./grown.ts";

/** Marks facts, so that nothing counts twice. Reading is never interrupted: all sessions share them. */
export class Marks {
  #marked = new Int32Array(256);
  #now = 0;

  /** From here on nothing is marked. */
  clear(): void {
    // One more in 32 bits: after the largest number comes the smallest.
    this.#now = (this.#now + 1) | 0;
  }

  /** Marks a fact; true if it was not marked yet. */
  add(fact: Fact): boolean {
    if (fact >= this.#marked.length) this.#marked = grown(this.#marked, fact * 2);
    if (this.#marked[fact] === this.#now) return false;
    this.#marked[fact] = this.#now;
    return true;
  }
}
