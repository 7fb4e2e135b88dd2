import type { CopyEvidence } from "./copy-filter.ts";
import type { CopyRules, LineNumbering } from "./copy-rules.ts";

/** Limits per record for searched characters and inspected leaves; content beyond them is kept. */
const MAX_SEARCHED = 64 * 1024 * 1024;
const MAX_LEAVES = 100_000;
const MAX_DEPTH = 64;

const [ZERO, NINE] = [0x30, 0x39];

/** Content of a record that the log already holds. */
export interface KnownContent {
  /** Values whose texts are searched for copies. */
  readonly searched: readonly unknown[];
  /** Texts that count as copies only when whole. */
  readonly whole?: ReadonlySet<unknown>;
  /** Recognizes content that follows from the log in another way. */
  readonly isDerived?: (field: string, value: unknown) => boolean;
}

/** Content of one record, to recognize copies in its other fields. */
export class KnownTexts implements CopyEvidence {
  readonly #rules: CopyRules;
  readonly #known: KnownContent;
  readonly #fields = new Set<string>();
  /** The values of these fields: most questions are answered by them, without a key. */
  readonly #values = new Set<string>();
  readonly #texts: string[] = [];
  #plainTexts: readonly string[] | undefined;
  #charactersLeft = MAX_SEARCHED;

  constructor(rules: CopyRules, known: KnownContent) {
    this.#rules = rules;
    this.#known = known;
    let leaves = 0;
    const walk = (value: unknown, field: string, depth: number): void => {
      if (value === null || value === undefined || ++leaves > MAX_LEAVES || depth > MAX_DEPTH) return;
      if (Array.isArray(value)) for (const one of value) walk(one, field, depth + 1);
      else if (typeof value === "object")
        for (const [key, one] of Object.entries(value)) walk(one, key, depth + 1);
      else if (typeof value === "string" && value.length >= rules.minLength) this.#texts.push(value);
      else {
        this.#fields.add(buildFieldKey(field, value));
        this.#values.add(String(value));
      }
    };
    for (const value of known.searched) walk(value, "", 0);
  }

  hasField(field: string, value: unknown): boolean {
    return this.#values.has(String(value)) && this.#fields.has(buildFieldKey(field, value));
  }

  hasText(value: string, field: string): boolean {
    const text = this.#rules.isTrimmed ? value.trim() : value;
    return (
      this.#known.whole?.has(text) === true ||
      this.#isInside(text) ||
      this.#known.isDerived?.(field, value) === true
    );
  }

  /** Tells whether the lines occur consecutively in one text, or the list can be derived. */
  hasList(list: readonly unknown[], field: string): boolean {
    return list.every((one) => typeof one === "string")
      ? this.#isIn(this.#texts, list.join("\n"))
      : this.#known.isDerived?.(field, list) === true;
  }

  #isInside(text: string): boolean {
    const { minInside, prefix, ellipsis } = this.#rules;
    if (text.length < (text.includes("\n") ? minInside.lines : minInside.line)) return false;
    return (
      this.#isShownNumbered(text) ||
      this.#isIn(this.#texts, text) ||
      (prefix !== undefined &&
        text.startsWith(prefix) &&
        this.#isIn(this.#texts, text.slice(prefix.length))) ||
      (ellipsis !== undefined && text.endsWith(ellipsis) && this.#isStart(text.slice(0, -ellipsis.length))) ||
      this.#isAmongNumbered(text)
    );
  }

  /** Compares with files shown to the model with line numbers. Checked first, because these are the long texts. */
  #isShownNumbered(text: string): boolean {
    const { numbering } = this.#rules;
    if (!numbering?.isFromStart || !text.includes("\n")) return false;
    return this.#texts.some((one) => one.length > text.length && isNumberedCopy(one, text, numbering));
  }

  #isAmongNumbered(text: string): boolean {
    const { numbering } = this.#rules;
    if (!numbering) return false;
    const canBe = (one: string) => !numbering.isFromStart || isNumbered(one, numbering);
    if (!this.#texts.some((one) => one.length > text.length && canBe(one))) return false;
    this.#plainTexts ??= this.#texts.filter(canBe).map((one) => removeLineNumbers(one, numbering));
    return this.#isIn(this.#plainTexts, text);
  }

  #isStart(text: string): boolean {
    return this.#texts.some((one) => one.startsWith(text));
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

/** Tells whether the first line has a number. */
function isNumbered(text: string, numbering: LineNumbering): boolean {
  return skipLineNumber(text, 0, numbering) > 0;
}

/** Tells whether `text` equals the numbered lines from the first on, without their numbers. Nearly all read content does. */
function isNumberedCopy(numbered: string, text: string, numbering: LineNumbering): boolean {
  let from = skipLineNumber(numbered, 0, numbering);
  if (from === 0) return false;
  while (numbered[from] === " " || numbered[from] === "\t") from++;
  for (let at = 0; ; ) {
    const end = text.indexOf("\n", at) + 1;
    if (!numbered.startsWith(text.slice(at, end || undefined), from)) return false;
    if (end === 0) return true;
    from = skipLineNumber(numbered, from + end - at, numbering);
    at = end;
  }
}

/** Strips numbers line by line: a global replacement in a long text costs several times as much. */
function removeLineNumbers(text: string, numbering: LineNumbering): string {
  const lines: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const newline = text.indexOf("\n", from);
    const end = newline < 0 ? text.length : newline;
    lines.push(text.slice(skipLineNumber(text, from, numbering), end));
    from = end + 1;
  }
  return lines.join("\n");
}

/** Returns the position after the number of a line that begins at `from`, or `from` if it has none. */
function skipLineNumber(text: string, from: number, numbering: LineNumbering): number {
  const { openings, blanks, marks, hasGap } = numbering;
  let at = from + (openings.find((opening) => text.startsWith(opening, from))?.length ?? 0);
  while (at < text.length && blanks.includes(text[at] as string)) at++;
  const digits = at;
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++;
  if (at === digits || at >= text.length || !marks.includes(text[at] as string)) return from;
  return hasGap && text[at + 1] === " " ? at + 2 : at + 1;
}
