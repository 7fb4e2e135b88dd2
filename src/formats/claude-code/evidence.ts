/** Shorter texts may be found somewhere by chance: they are copies only where the field is the same. */
const MIN_FOUND_LENGTH = 16;
/** Characters searched for one record, and leaves of it looked at: what is beyond is kept. */
const MAX_SEARCHED = 64 * 1024 * 1024;
const MAX_LEAVES = 100_000;
const MAX_DEPTH = 64;

/** What the log holds already of a tool call and its result, to recognise copies of it. */
export class Evidence {
  readonly #isFile: (text: string) => boolean;
  readonly #fields = new Set<string>();
  readonly #texts: string[] = [];
  #plainTexts: readonly string[] | undefined;
  #left = MAX_SEARCHED;

  /** `isFile` knows the content of the file that the call was about. */
  constructor(values: readonly unknown[], isFile: (text: string) => boolean) {
    this.#isFile = isFile;
    let leaves = 0;
    const walk = (value: unknown, field: string, depth: number): void => {
      if (value === null || value === undefined || ++leaves > MAX_LEAVES || depth > MAX_DEPTH) return;
      if (Array.isArray(value)) for (const one of value) walk(one, field, depth + 1);
      else if (typeof value === "object")
        for (const [key, one] of Object.entries(value)) walk(one, key, depth + 1);
      else if (typeof value === "string" && value.length >= MIN_FOUND_LENGTH) this.#texts.push(value);
      else this.#fields.add(fieldKey(field, value));
    };
    for (const value of values) walk(value, "", 0);
  }

  /** Tells whether a field's value can be found in the log. */
  holds(field: string, value: unknown): boolean {
    if (typeof value !== "string") return this.#fields.has(fieldKey(field, value));
    const text = value.trim();
    if (text.length < MIN_FOUND_LENGTH) return text === "" || this.#fields.has(fieldKey(field, value));
    return this.#isFound(text) || this.#isFile(value);
  }

  /** Tells whether a list of texts can be found as lines of one text. */
  holdsLines(lines: readonly string[]): boolean {
    return this.#isIn(this.#texts, lines.join("\n"));
  }

  #isFound(text: string): boolean {
    if (this.#isIn(this.#texts, text)) return true;
    // Errors are told to the model without this word.
    if (text.startsWith("Error: ") && this.#isIn(this.#texts, text.slice("Error: ".length))) return true;
    if (!this.#texts.some((one) => one.length > text.length && isNumbered(one))) return false;
    this.#plainTexts ??= this.#texts.filter(isNumbered).map(withoutNumbers);
    return this.#isIn(this.#plainTexts, text);
  }

  #isIn(texts: readonly string[], text: string): boolean {
    return texts.some((one) => {
      if (one.length < text.length || this.#left <= 0) return false;
      this.#left -= one.length;
      return one.includes(text);
    });
  }
}

/** Fields are called alike in calls and results but for their spelling: file_path, filePath. */
function fieldKey(field: string, value: unknown): string {
  return `${field.replaceAll("_", "").toLowerCase()}\n${String(value)}`;
}

/** Files are shown to the model with the numbers of their lines. */
const LINE_NUMBER = /^ *\d+[→\t]/;

function isNumbered(text: string): boolean {
  return LINE_NUMBER.test(text);
}

function withoutNumbers(text: string): string {
  return text.replace(/^ *\d+[→\t]/gm, "");
}
