/** Gives each entry an id that no other has: its own, if it came with one, else eight hexadecimal digits. */
export class EntryIds {
  /** Ids that came with entries: true once written. */
  readonly #own = new Map<string, boolean>();
  #made = 0;

  /** Says that an entry brings this id along, before the first one is asked for. */
  reserve(id: string): void {
    this.#own.set(id, false);
  }

  /** Tells whether an entry with this id has been written. */
  isWritten(id: string): boolean {
    return this.#own.get(id) === true;
  }

  take(own: string | undefined): string {
    if (own !== undefined && this.#own.get(own) !== true) {
      this.#own.set(own, true);
      return own;
    }
    for (;;) {
      // An odd factor maps every count to another number below 2^32.
      const id = Math.imul(++this.#made, 0x9e3779b1) >>> 0;
      const text = id.toString(16).padStart(8, "0");
      if (!this.#own.has(text)) return text;
    }
  }
}
