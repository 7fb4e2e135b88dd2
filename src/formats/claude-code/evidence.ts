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
    return (
      this.#isShownNumbered(text) ||
      this.#isIn(this.#texts, text) ||
      this.#isError(text) ||
      this.#isAmongNumbered(text)
    );
  }

  /** A file as it is shown to the model, with numbers before its lines: asked first, for these are the long texts. */
  #isShownNumbered(text: string): boolean {
    return (
      text.includes("\n") && this.#texts.some((one) => one.length > text.length && isNumberedCopy(one, text))
    );
  }

  #isAmongNumbered(text: string): boolean {
    if (!this.#texts.some((one) => one.length > text.length && isNumbered(one))) return false;
    this.#plainTexts ??= this.#texts.filter(isNumbered).map(withoutNumbers);
    return this.#isIn(this.#plainTexts, text);
  }

  /** Errors are told to the model without this word. */
  #isError(text: string): boolean {
    return text.startsWith("Error: ") && this.#isIn(this.#texts, text.slice("Error: ".length));
  }

  #isIn(texts: readonly string[], text: string): boolean {
    return texts.some((one) => {
      if (one.length < text.length || this.#left <= 0) return false;
      this.#left -= one.length;
      return one === text || one.includes(text);
    });
  }
}

/** Fields are called alike in calls and results but for their spelling: file_path, filePath. */
function fieldKey(field: string, value: unknown): string {
  return `${field.replaceAll("_", "").toLowerCase()}\n${String(value)}`;
}

const [SPACE, ZERO, NINE, ARROW, TAB, NEWLINE] = [0x20, 0x30, 0x39, 0x2192, 0x09, 0x0a];
const LINE_NUMBER = /^ *\d+[→\t]/;

function isNumbered(text: string): boolean {
  return LINE_NUMBER.test(text);
}

/**
 * Tells whether a text is what numbered lines say from the first on. Character by character: pieces cut out of long texts
 * to be compared would cost several times as much, and nearly all of what is read comes this way.
 */
function isNumberedCopy(numbered: string, text: string): boolean {
  if (!isNumbered(numbered)) return false;
  let from = afterNumber(numbered, 0);
  while (isBlank(numbered.charCodeAt(from))) from++;
  for (let at = 0; at < text.length; at++, from++) {
    const unit = numbered.charCodeAt(from);
    if (unit !== text.charCodeAt(at)) return false;
    if (unit === NEWLINE) from = afterNumber(numbered, from + 1) - 1;
  }
  return true;
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === TAB;
}

/** Line by line: a replacement over all of a long text costs several times as much. */
function withoutNumbers(text: string): string {
  const lines: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const newline = text.indexOf("\n", from);
    const end = newline < 0 ? text.length : newline;
    lines.push(text.slice(afterNumber(text, from), end));
    from = end + 1;
  }
  return lines.join("\n");
}

function afterNumber(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  const digits = at;
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++;
  const mark = text.charCodeAt(at);
  return at > digits && (mark === ARROW || mark === TAB) ? at + 1 : from;
}
