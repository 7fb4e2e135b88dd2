import { type Fact, grown } from "./fact-table.ts";

/** The message that lines come from. */
export interface Source {
  readonly seq: number;
  /** How the entry is cited, and what it is about. */
  readonly cite: string;
  readonly heading: string;
}

/** Lines that may be kept when their message leaves, with the facts in them; in columns, for there are many. */
export class LineList {
  readonly texts: string[] = [];
  readonly sources: Source[] = [];
  #tokens = new Int32Array(16);
  /** Where the facts of a line end, which is where those of the next one begin. */
  #ends = new Int32Array(16);
  #facts = new Int32Array(64);

  get length(): number {
    return this.texts.length;
  }

  /** Columns that may be longer than the list, for those who go through all of it. */
  get columns(): { readonly tokens: Int32Array; readonly ends: Int32Array; readonly facts: Int32Array } {
    return { tokens: this.#tokens, ends: this.#ends, facts: this.#facts };
  }

  /** Adds a line with its facts, those from an index on. */
  add(
    text: string,
    tokens: number,
    source: Source,
    facts: ArrayLike<Fact>,
    from = 0,
    to = facts.length,
  ): void {
    const index = this.length;
    const begin = index === 0 ? 0 : (this.#ends[index - 1] as number);
    const end = begin + to - from;
    if (index === this.#ends.length) {
      this.#tokens = grown(this.#tokens, index * 2);
      this.#ends = grown(this.#ends, index * 2);
    }
    if (end > this.#facts.length) this.#facts = grown(this.#facts, Math.max(end, this.#facts.length * 2));
    for (let offset = 0; from + offset < to; offset++)
      this.#facts[begin + offset] = facts[from + offset] as Fact;
    this.#tokens[index] = tokens;
    this.#ends[index] = end;
    this.texts.push(text);
    this.sources.push(source);
  }

  /** Adds all lines of another list. */
  addAll(other: LineList): void {
    const { tokens, ends, facts } = other.columns;
    for (let index = 0; index < other.length; index++) {
      const from = index === 0 ? 0 : (ends[index - 1] as number);
      const text = other.texts[index] as string;
      this.add(text, tokens[index] as number, other.sources[index] as Source, facts, from, ends[index]);
    }
  }

  /** Drops the lines that are not to be kept, in place. */
  retain(isKept: (index: number) => boolean): void {
    let count = 0;
    let end = 0;
    for (let index = 0, from = 0; index < this.texts.length; index++) {
      const to = this.#ends[index] as number;
      if (isKept(index)) {
        this.texts[count] = this.texts[index] as string;
        this.sources[count] = this.sources[index] as Source;
        this.#tokens[count] = this.#tokens[index] as number;
        this.#facts.copyWithin(end, from, to);
        end += to - from;
        this.#ends[count++] = end;
      }
      from = to;
    }
    this.texts.length = count;
    this.sources.length = count;
  }
}
