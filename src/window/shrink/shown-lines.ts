/** A tool result in a window, as it is shown. */
export interface ShownResult {
  /** Place of its entry on the line, the citation of the entry, and the index of the result inside it. */
  readonly seq: number;
  readonly cite: string;
  readonly result: number;
  /** The call that it answers, in a few words. */
  readonly label: string;
  readonly lines: readonly string[];
}

/** Lines in a row that a shown result also has. */
export interface LineMatch {
  readonly shown: ShownResult;
  /** Index of the first line in the shown result. */
  readonly line: number;
  readonly count: number;
}

/** Shorter lines, such as a closing bracket, stand in most files. */
const MIN_ANCHOR_CHARACTERS = 8;
/** Places that are compared for a line; the newest ones. */
const MAX_PLACES = 6;

/** The lines of a window's tool results, by their text. */
export class ShownLines {
  readonly #places = new Map<string, { readonly shown: ShownResult; readonly line: number }[]>();
  readonly #results = new Map<string, ShownResult[]>();

  add(shown: ShownResult): void {
    // The parent of a fork cites its own entries without its name.
    const bare = shown.cite.slice(shown.cite.lastIndexOf("#"));
    for (const cite of new Set([shown.cite, bare])) {
      const key = `${cite} ${shown.result}`;
      const known = this.#results.get(key);
      if (known) known.push(shown);
      else this.#results.set(key, [shown]);
    }
    for (const [line, text] of shown.lines.entries()) {
      if (text.length < MIN_ANCHOR_CHARACTERS) continue;
      const places = this.#places.get(text);
      if (!places) this.#places.set(text, [{ shown, line }]);
      else {
        if (places.length === MAX_PLACES) places.shift();
        places.push({ shown, line });
      }
    }
  }

  /** Results by their citation; two entries of a fork may be cited alike. */
  findResults(cite: string, result: number): readonly ShownResult[] {
    return this.#results.get(`${cite} ${result}`) ?? [];
  }

  /** The longest run of lines from `from` up to `to` that a result after the place `afterSeq` shows. */
  findLongest(lines: readonly string[], from: number, to: number, afterSeq: number): LineMatch | undefined {
    let best: LineMatch | undefined;
    for (const { shown, line } of this.#places.get(lines[from] as string) ?? []) {
      if (shown.seq <= afterSeq) continue;
      let count = 1;
      while (from + count <= to && lines[from + count] === shown.lines[line + count]) count++;
      if (count >= (best?.count ?? 0)) best = { shown, line, count };
    }
    return best;
  }
}
