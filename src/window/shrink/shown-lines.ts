import { compareLines, type LineShift, type OutputLines } from "./output-lines.ts";

/** A tool result in a window, as it is shown, or the text that a call writes to a file. */
export interface ShownText {
  /** Place of its entry on the line, the citation of the entry, and the part of it as a pointer names it. */
  readonly seq: number;
  readonly cite: string;
  readonly part: string;
  /** The call in a few words. */
  readonly label: string;
  /** The lines of all its texts. */
  readonly output: OutputLines;
  /** False if the lines of several texts are joined, so that a number may stand before two lines. */
  readonly isOneText: boolean;
}

/** Lines in a row that a shown result also has. */
export interface LineMatch {
  readonly shown: ShownText;
  /** Index of the first line in the shown result. */
  readonly line: number;
  readonly count: number;
  readonly shift: LineShift;
}

/** Shorter lines, such as a closing bracket, stand in most files. */
const MIN_ANCHOR_CHARACTERS = 8;
/** Places that are compared for a line; the newest ones. */
const MAX_PLACES = 6;

/**
 * The lines of a window's tool results, each with its newest places. Results are read when lines are first sought. The
 * lines themselves are the keys: V8 splits and hashes them without running code of ours, which is slow before it is
 * compiled, and the first request after a restart reads a whole conversation.
 */
export class ShownLines {
  /** Each line of the results, by a number that `#numbers` finds for its text: one, or the newest ones in order. */
  readonly #shown: ShownText[] = [];
  readonly #lines: number[] = [];
  readonly #numbers = new Map<string, number | number[]>();
  readonly #texts = new Map<string, ShownText[]>();
  #unread: ShownText[] = [];

  add(shown: ShownText): void {
    this.#addText(shown.cite, shown);
    // The parent of a fork cites its own entries without its name.
    const bare = shown.cite.slice(shown.cite.lastIndexOf("#"));
    if (bare !== shown.cite) this.#addText(bare, shown);
    this.#unread.push(shown);
  }

  #addText(cite: string, shown: ShownText): void {
    const key = `${cite} ${shown.part}`;
    const known = this.#texts.get(key);
    if (known) known.push(shown);
    else this.#texts.set(key, [shown]);
  }

  #read(shown: ShownText): void {
    const { bodies } = shown.output;
    for (let line = 0; line < bodies.length; line++) {
      const body = bodies[line] as string;
      if (body.length >= MIN_ANCHOR_CHARACTERS) this.#addLine(body, shown, line);
    }
  }

  #addLine(body: string, shown: ShownText, line: number): void {
    const number = this.#lines.push(line) - 1;
    this.#shown.push(shown);
    const known = this.#numbers.get(body);
    if (known === undefined) this.#numbers.set(body, number);
    else if (typeof known === "number") this.#numbers.set(body, [known, number]);
    else {
      if (known.length === MAX_PLACES) known.shift();
      known.push(number);
    }
  }

  /** Texts by their citation; two entries of a fork may be cited alike. */
  findTexts(cite: string, part: string): readonly ShownText[] {
    return this.#texts.get(`${cite} ${part}`) ?? [];
  }

  /**
   * The longest run of lines from `from` up to `to` that a result after the place `afterSeq` shows; the newest of equally
   * long ones.
   */
  findLongest(output: OutputLines, from: number, to: number, afterSeq: number): LineMatch | undefined {
    for (const shown of this.#unread) this.#read(shown);
    this.#unread = [];
    const sought = output.bodies[from] as string;
    if (sought.length < MIN_ANCHOR_CHARACTERS) return undefined;
    let best: LineMatch | undefined;
    const found = this.#numbers.get(sought) ?? [];
    for (const number of typeof found === "number" ? [found] : found) {
      const shown = this.#shown[number] as ShownText;
      const line = this.#lines[number] as number;
      const shift = compareLines(output, from, shown.output, line);
      if (shift === undefined || shown.seq <= afterSeq) continue;
      let count = 1;
      while (from + count <= to && compareLines(output, from + count, shown.output, line + count) === shift)
        count++;
      if (count >= (best?.count ?? 0)) best = { shown, line, count, shift };
    }
    return best;
  }
}
