import type { Fact } from "./fact-table.ts";

/** The message that lines come from. */
export interface QuoteSource {
  readonly seq: number;
  /** Citation of the entry; `heading` describes it. */
  readonly cite: string;
  readonly heading: string;
}

/** Lines that can be kept when their message leaves, with their facts. Stored in columns because there are many. */
export class LineList {
  /** The lines, each with its line break; slices of their messages until `copyTexts`. */
  readonly texts: string[] = [];
  readonly sources: QuoteSource[] = [];
  readonly #tokens: number[] = [];
  /** End index of each line's facts, where the facts of the next line begin. */
  readonly #ends: number[] = [];
  readonly #facts: Fact[] = [];

  get length(): number {
    return this.texts.length;
  }

  /** The raw columns, for fast iteration. */
  get columns(): {
    readonly tokens: readonly number[];
    readonly ends: readonly number[];
    readonly facts: readonly Fact[];
  } {
    return { tokens: this.#tokens, ends: this.#ends, facts: this.#facts };
  }

  /** Adds a line with the facts from index `from` up to `to`. */
  add(
    text: string,
    tokens: number,
    source: QuoteSource,
    facts: readonly Fact[],
    from = 0,
    to = facts.length,
  ): void {
    for (let index = from; index < to; index++) this.#facts.push(facts[index] as Fact);
    this.#tokens.push(tokens);
    this.#ends.push(this.#facts.length);
    this.texts.push(text);
    this.sources.push(source);
  }

  addAll(other: LineList): void {
    const { tokens, ends, facts } = other.columns;
    for (let index = 0; index < other.length; index++) {
      const from = index === 0 ? 0 : (ends[index - 1] as number);
      const text = other.texts[index] as string;
      this.add(text, tokens[index] as number, other.sources[index] as QuoteSource, facts, from, ends[index]);
    }
  }

  /** Copies the texts of the lines from an index on, because a slice keeps its whole message alive. */
  copyTexts(from: number): void {
    for (let index = from; index < this.texts.length; index++)
      // Joining copies, whereas adding two texts refers to both.
      this.texts[index] = [(this.texts[index] as string).slice(0, -1), ""].join("\n");
  }

  /** Removes all other lines, in place. */
  retain(isKept: (index: number) => boolean): void {
    let count = 0;
    let end = 0;
    for (let index = 0, from = 0; index < this.texts.length; index++) {
      const to = this.#ends[index] as number;
      if (isKept(index)) {
        this.texts[count] = this.texts[index] as string;
        this.sources[count] = this.sources[index] as QuoteSource;
        this.#tokens[count] = this.#tokens[index] as number;
        this.#facts.copyWithin(end, from, to);
        end += to - from;
        this.#ends[count++] = end;
      }
      from = to;
    }
    for (const column of [this.texts, this.sources, this.#tokens, this.#ends]) column.length = count;
    this.#facts.length = end;
  }
}
