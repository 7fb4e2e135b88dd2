/** Assigns unique entry ids: the entry's own id if it has one, else eight hexadecimal digits. */
export class EntryIds {
  /** Imported ids: true once written. */
  readonly #own = new Map<string, boolean>();
  #count = 0;

  /** Reserves an imported id; must be called before the first `take`. */
  reserve(id: string): void {
    this.#own.set(id, false);
  }

  /** Tells whether an entry with this id has been written. */
  isWritten(id: string): boolean {
    return this.#own.get(id) === true;
  }

  assignId(own: string | undefined): string {
    if (own !== undefined && this.#own.get(own) !== true) {
      this.#own.set(own, true);
      return own;
    }
    for (;;) {
      // Multiplication by an odd factor maps every count to a different number below 2^32.
      const id = Math.imul(++this.#count, 0x9e3779b1) >>> 0;
      const text = id.toString(16).padStart(8, "0");
      if (!this.#own.has(text)) return text;
    }
  }
}
