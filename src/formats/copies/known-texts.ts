/** Shorter texts may match by chance: they count as copies only in a field of the same name. */
const MIN_FOUND_LENGTH = 16;
/** Limits per record for searched characters and inspected leaves; content beyond them is kept. */
const MAX_SEARCHED = 64 * 1024 * 1024;
const MAX_LEAVES = 100_000;
const MAX_DEPTH = 64;

/** Content of a tool call and its result that the log already holds, to recognize copies. */
export class CopyFilter {
  readonly #isFile: (text: string) => boolean;
  readonly #fields = new Set<string>();
  readonly #texts: string[] = [];
  #plainTexts: readonly string[] | undefined;
  #charactersLeft = MAX_SEARCHED;

  /** `isFile` recognizes the content of the file that the call was about. */
  constructor(values: readonly unknown[], isFile: (text: string) => boolean) {
    this.#isFile = isFile;
    let leaves = 0;
    const walk = (value: unknown, field: string, depth: number): void => {
      if (value === null || value === undefined || ++leaves > MAX_LEAVES || depth > MAX_DEPTH) return;
      if (Array.isArray(value)) for (const one of value) walk(one, field, depth + 1);
      else if (typeof value === "object")
        for (const [key, one] of Object.entries(value)) walk(one, key, depth + 1);
      else if (typeof value === "string" && value.length >= MIN_FOUND_LENGTH) this.#texts.push(value);
      else this.#fields.add(buildFieldKey(field, value));
    };
    for (const value of values) walk(value, "", 0);
  }

  /** Tells whether the log holds a field's value. */
  hasValue(field: string, value: unknown): boolean {
    if (typeof value !== "string") return this.#fields.has(buildFieldKey(field, value));
    const text = value.trim();
    if (text.length < MIN_FOUND_LENGTH) return text === "" || this.#fields.has(buildFieldKey(field, value));
    return this.#isFound(text) || this.#isFile(value);
  }

  /** Tells whether the lines occur consecutively in one text. */
  hasLines(lines: readonly string[]): boolean {
    return this.#isIn(this.#texts, lines.join("\n"));
  }

  #isFound(text: string): boolean {
    return (
      this.#isShownNumbered(text) ||
      this.#isIn(this.#texts, text) ||
      this.#isError(text) ||
      this.#isAmongNumbered(text)
    );
  }

  /** Compares with files shown to the model with line numbers. Checked first, because these are the long texts. */
  #isShownNumbered(text: string): boolean {
    return (
      text.includes("\n") && this.#texts.some((one) => one.length > text.length && isNumberedCopy(one, text))
    );
  }

  #isAmongNumbered(text: string): boolean {
    if (!this.#texts.some((one) => one.length > text.length && isNumbered(one))) return false;
    this.#plainTexts ??= this.#texts.filter(isNumbered).map(removeLineNumbers);
    return this.#isIn(this.#plainTexts, text);
  }

  /** The model sees errors without the prefix "Error: ". */
  #isError(text: string): boolean {
    return text.startsWith("Error: ") && this.#isIn(this.#texts, text.slice("Error: ".length));
  }

  #isIn(texts: readonly string[], text: string): boolean {
    return texts.some((one) => {
      if (one.length < text.length || this.#charactersLeft <= 0) return false;
      this.#charactersLeft -= one.length;
      return one === text || one.includes(text);
    });
  }
}

/** Normalizes field names, which differ between calls and results only in spelling: file_path, filePath. */
function buildFieldKey(field: string, value: unknown): string {
  return `${field.replaceAll("_", "").toLowerCase()}\n${String(value)}`;
}

const [SPACE, ZERO, NINE, ARROW, TAB, NEWLINE] = [0x20, 0x30, 0x39, 0x2192, 0x09, 0x0a];
const LINE_NUMBER = /^ *\d+[→\t]/;

function isNumbered(text: string): boolean {
  return LINE_NUMBER.test(text);
}

/**
 * Tells whether `text` equals the numbered lines from the first on, without their numbers. It compares character by
 * character: slicing long texts would cost several times as much, and nearly all read content takes this path.
 */
function isNumberedCopy(numbered: string, text: string): boolean {
  if (!isNumbered(numbered)) return false;
  let from = skipLineNumber(numbered, 0);
  while (isBlank(numbered.charCodeAt(from))) from++;
  for (let at = 0; at < text.length; at++, from++) {
    const unit = numbered.charCodeAt(from);
    if (unit !== text.charCodeAt(at)) return false;
    if (unit === NEWLINE) from = skipLineNumber(numbered, from + 1) - 1;
  }
  return true;
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === TAB;
}

/** Strips numbers line by line: a global replacement in a long text costs several times as much. */
function removeLineNumbers(text: string): string {
  const lines: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const newline = text.indexOf("\n", from);
    const end = newline < 0 ? text.length : newline;
    lines.push(text.slice(skipLineNumber(text, from), end));
    from = end + 1;
  }
  return lines.join("\n");
}

function skipLineNumber(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  const digits = at;
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++;
  const mark = text.charCodeAt(at);
  return at > digits && (mark === ARROW || mark === TAB) ? at + 1 : from;
}
