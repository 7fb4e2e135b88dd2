import { UpstreamError } from "../../upstream/upstream-error.ts";
import { findNearest, SseEvent } from "./sse-event.ts";

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
