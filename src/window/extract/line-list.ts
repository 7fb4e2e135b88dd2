import type { Clue } from "./clue-table.ts";

/** The message that lines come from. */
export interface QuoteSource {
  readonly seq: number;
  /** Citation of the entry; `heading` describes it. */
  readonly cite: string;
  readonly heading: string;
}

/** Lines that can be kept when their message leaves, with their clues. Stored in columns because there are many. */
export class LineList {
  /** The lines, each with its line break; slices of their messages until `copyTexts`. */
  readonly texts: string[] = [];
  readonly sources: QuoteSource[] = [];
  readonly #tokens: number[] = [];
  /** End index of each line's clues, where the clues of the next line begin. */
  readonly #ends: number[] = [];
  readonly #clues: Clue[] = [];

  get length(): number {
    return this.texts.length;
  }

  /** The raw columns, for fast iteration. */
  get columns(): {
    readonly tokens: readonly number[];
    readonly ends: readonly number[];
    readonly clues: readonly Clue[];
  } {
    return { tokens: this.#tokens, ends: this.#ends, clues: this.#clues };
  }

  /** Adds a line with the clues from index `from` up to `to`. */
  add(
    text: string,
    tokens: number,
    source: QuoteSource,
    clues: readonly Clue[],
    from = 0,
    to = clues.length,
  ): void {
    for (let index = from; index < to; index++) this.#clues.push(clues[index] as Clue);
    this.#tokens.push(tokens);
    this.#ends.push(this.#clues.length);
    this.texts.push(text);
    this.sources.push(source);
  }

  addAll(other: LineList): void {
    const { tokens, ends, clues } = other.columns;
    for (let index = 0; index < other.length; index++) {
      const from = index === 0 ? 0 : (ends[index - 1] as number);
      const text = other.texts[index] as string;
      this.add(text, tokens[index] as number, other.sources[index] as QuoteSource, clues, from, ends[index]);
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
        this.#clues.copyWithin(end, from, to);
        end += to - from;
        this.#ends[count++] = end;
      }
      from = to;
    }
    for (const column of [this.texts, this.sources, this.#tokens, this.#ends]) column.length = count;
    this.#clues.length = end;
  }
}
