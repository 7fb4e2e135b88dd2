import { UpstreamError } from "../../upstream/upstream-error.ts";

const LF = 10;
const CR = 13;
const COLON = 58;
const NOTHING = Buffer.alloc(0);

/** The rest of a stream at its end. */
interface SseRest {
  /** The bytes after the last complete event, parsed as one event; undefined if there are none. */
  readonly event: SseEvent | undefined;
  /** True if those bytes are not a complete event. */
  readonly isCut: boolean;
}

interface SseOptions {
  /** Maximum size of an event, default 16 MiB. */
  readonly maxEventBytes?: number;
}

/**
 * Splits a stream of server-sent events into its events. The result does not depend on how the bytes were chunked, and
 * the concatenated `raw` bytes equal the stream. An event without data is a comment or a blank line.
 */
export class SseSplitter {
  readonly #maxEventBytes: number;
  /** Bytes of the current event, at the front of a buffer that may be longer. */
  #held: Buffer = NOTHING;
  #heldLength = 0;
  #isFirst = true;
  /** True while the current line has no bytes. */
  #isLineEmpty = true;
  /** True if the current line is the first of its event. */
  #isFirstLine = true;
  /** True if the last byte was a carriage return, which a line feed may follow as part of the same line ending. */
  #isAfterReturn = false;
  /** True if the current event lacks only that optional line feed. */
  #isWaiting = false;
  #failure: UpstreamError | undefined;

  constructor({ maxEventBytes = 16 * 1_024 * 1_024 }: SseOptions = {}) {
    this.#maxEventBytes = maxEventBytes;
  }

  /**
   * Returns the events that these bytes complete. Throws `UpstreamError` "too-large" once all events before the
   * oversized one have been returned.
   */
  push(chunk: Buffer): SseEvent[] {
    if (this.#failure) throw this.#failure;
    const events: SseEvent[] = [];
    if (chunk.length === 0) return events;
    let from = 0;
    let at = 0;
    if (this.#isAfterReturn) {
      this.#isAfterReturn = false;
      if (chunk[0] === LF) at = 1;
      if (this.#isWaiting) {
        this.#isWaiting = false;
        this.#complete(chunk, 0, at, events);
        from = at;
      }
    }
    let feed = chunk.indexOf(LF, at);
    let carriage = chunk.indexOf(CR, at);
    while (at < chunk.length) {
      const end = findNearest(feed, carriage);
      if (end < 0) {
        this.#isLineEmpty = false;
        break;
      }
      const isReturn = end === carriage;
      const next = end + (isReturn && feed === end + 1 ? 2 : 1);
      const isBlank = this.#isLineEmpty && end === at;
      this.#isLineEmpty = true;
      if (isReturn && next === chunk.length && feed !== end + 1) this.#isAfterReturn = true;
      if (isBlank || this.#isComment(chunk, from)) {
        if (this.#isAfterReturn) this.#isWaiting = true;
        else {
          this.#complete(chunk, from, next, events);
          from = next;
        }
      } else this.#isFirstLine = false;
      at = next;
      if (carriage >= 0 && carriage < at) carriage = chunk.indexOf(CR, at);
      if (feed >= 0 && feed < at) feed = chunk.indexOf(LF, at);
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    if (this.#failure && events.length === 0) throw this.#failure;
    return events;
  }

  /** Returns the rest of the stream. Throws as `push` does. */
  end(): SseRest {
    if (this.#failure) throw this.#failure;
    const isCut = !this.#isWaiting;
    if (this.#heldLength === 0) return { event: undefined, isCut: false };
    const events: SseEvent[] = [];
    this.#complete(NOTHING, 0, 0, events);
    return { event: events[0], isCut };
  }

  /** True if the line that just ended is a comment before any field of an event. */
  #isComment(chunk: Buffer, from: number): boolean {
    return this.#isFirstLine && (this.#heldLength > 0 ? this.#held[0] : chunk[from]) === COLON;
  }

  #complete(chunk: Buffer, from: number, to: number, events: SseEvent[]): void {
    if (this.#failure) return;
    let raw: Buffer;
    if (this.#heldLength === 0) {
      raw = chunk.subarray(from, to);
      if (raw.length > this.#maxEventBytes) this.#fail();
    } else {
      this.#hold(chunk.subarray(from, to));
      raw = this.#held.subarray(0, this.#heldLength);
      this.#held = NOTHING;
      this.#heldLength = 0;
    }
    if (this.#failure) return;
    const isMarked = this.#isFirst && raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf;
    this.#isFirst = false;
    this.#isFirstLine = true;
    events.push(new SseEvent(raw, isMarked ? 3 : 0));
  }

  #hold(bytes: Buffer): void {
    if (this.#failure) return;
    const length = this.#heldLength + bytes.length;
    if (length > this.#maxEventBytes) {
      this.#fail();
      return;
    }
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(256, length, Math.min(2 * length, this.#maxEventBytes)));
      this.#held.copy(larger, 0, 0, this.#heldLength);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldLength);
    this.#heldLength = length;
  }

  #fail(): void {
    this.#held = NOTHING;
    this.#heldLength = 0;
    this.#failure = new UpstreamError(
      "too-large",
      `An event of the upstream's stream is larger than ${this.#maxEventBytes} bytes.`,
    );
  }
}

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
function findNearest(one: number, other: number): number {
  if (one < 0) return other;
  return other < 0 || one < other ? one : other;
}
