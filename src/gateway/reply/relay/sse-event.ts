const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;

/** One event of a stream, or lines between events without data: comments, blank lines. */
export class SseEvent {
  /** All bytes of the event, including the blank line at its end. */
  readonly raw: Buffer;
  /** The event name, if given. */
  declare readonly event?: string;
  /** True if the event has data, even if empty; clients ignore other events. */
  readonly hasData: boolean;
  readonly #firstFrom: number;
  readonly #firstTo: number;
  readonly #isOneLine: boolean;
  #data: string | undefined;

  /** `from` is the start of the first line, after a byte order mark or the rest of a line ending. */
  constructor(raw: Buffer, from = 0) {
    this.raw = raw;
    let name: string | undefined;
    let lines = 0;
    let firstFrom = 0;
    let firstTo = 0;
    for (let start = from; start < raw.length; ) {
      const end = findLineEnd(raw, start);
      const value = findDataStart(raw, start, end);
      if (value >= 0) {
        if (lines === 0) {
          firstFrom = value;
          firstTo = end;
        }
        lines += 1;
      } else {
        const at = findNameStart(raw, start, end);
        if (at >= 0) name = raw.toString("utf8", at, end);
      }
      start = findNextLine(raw, end);
    }
    if (name) this.event = name;
    this.hasData = lines > 0;
    this.#firstFrom = firstFrom;
    this.#firstTo = firstTo;
    this.#isOneLine = lines <= 1;
  }

  /** The data, with lines joined by line feeds. */
  get data(): string {
    this.#data ??= this.#isOneLine
      ? this.raw.toString("utf8", this.#firstFrom, this.#firstTo)
      : joinDataLines(this.raw, this.#firstFrom, this.#firstTo);
    return this.#data;
  }
}

/** Joins the first line of data with the lines after it. */
function joinDataLines(raw: Buffer, firstFrom: number, firstTo: number): string {
  const lines = [raw.toString("utf8", firstFrom, firstTo)];
  for (let start = firstTo; start < raw.length; ) {
    const end = findLineEnd(raw, start);
    const from = findDataStart(raw, start, end);
    if (from >= 0) lines.push(raw.toString("utf8", from, end));
    start = findNextLine(raw, end);
  }
  return lines.join("\n");
}

/** Start of the value in a data line; -1 for other lines. */
function findDataStart(raw: Buffer, at: number, end: number): number {
  const isData = raw[at] === 0x64 && raw[at + 1] === 0x61 && raw[at + 2] === 0x74 && raw[at + 3] === 0x61;
  return isData ? findValueStart(raw, at + 4, end) : -1;
}

/** Start of the value in a line that names the event; -1 for other lines. */
function findNameStart(raw: Buffer, at: number, end: number): number {
  const isName =
    raw[at] === 0x65 &&
    raw[at + 1] === 0x76 &&
    raw[at + 2] === 0x65 &&
    raw[at + 3] === 0x6e &&
    raw[at + 4] === 0x74;
  return isName ? findValueStart(raw, at + 5, end) : -1;
}

/** Start of the value after a field name that ends at `after`; -1 if the name is longer. */
function findValueStart(raw: Buffer, after: number, end: number): number {
  if (after >= end) return after === end ? end : -1;
  if (raw[after] !== COLON) return -1;
  return raw[after + 1] === SPACE && after + 1 < end ? after + 2 : after + 1;
}

/** Longer lines are searched by native code, which is faster per byte and slower to call. */
const SHORT_BYTES = 64;

/** End of the line that starts at `from`, without its line ending. */
function findLineEnd(raw: Buffer, from: number): number {
  const to = Math.min(raw.length, from + SHORT_BYTES);
  for (let at = from; at < to; at++) if (raw[at] === LF || raw[at] === CR) return at;
  if (to === raw.length) return to;
  const end = findNearest(raw.indexOf(LF, to), raw.indexOf(CR, to));
  return end < 0 ? raw.length : end;
}

/** Start of the line after one that ends at `end`. */
function findNextLine(raw: Buffer, end: number): number {
  return end + (raw[end] === CR && raw[end + 1] === LF ? 2 : 1);
}

/** The smaller of two indexes, where -1 means none. */
export function findNearest(one: number, other: number): number {
  if (one < 0) return other;
  return other < 0 || one < other ? one : other;
}
