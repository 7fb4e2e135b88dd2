import type { Steps } from "../../base/turns.ts";
import type { ByteRange } from "./byte-range.ts";
import { BodyError, OddBodyError } from "./cut-body.ts";

/** A JSON value that is too large to parse: a string with its quotes, an object or a list. */
export interface LargeValue extends ByteRange {
  readonly isText: boolean;
}

/** Rules for which values count as large. */
export interface LargeOptions {
  /** Strings with more bytes are large, and containers with more bytes outside the large values in them. */
  readonly minBytes: number;
  /** True for containers that may count as large; `depth` is 1 for a field of the searched value. */
  readonly mayLift: (name: string | undefined, depth: number) => boolean;
}

const STEP_BYTES = 512 * 1_024;
/** Parsers disagree about longer numbers. */
const MAX_NUMBER_BYTES = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const U = 0x75;

/** Parser states: the next token that is allowed. */
const VALUE = 0;
const VALUE_OR_END = 1;
const NAME = 2;
const NAME_OR_END = 3;
const AFTER_NAME = 4;
const AFTER_VALUE = 5;

interface Container {
  readonly from: number;
  readonly isObject: boolean;
  readonly mayLift: boolean;
  /** Number of large values found before this container, and their bytes. */
  readonly foundBefore: number;
  readonly savedBefore: number;
}

/**
 * Finds the large values of a JSON value without parsing it; a large container replaces the large values inside it.
 * Throws `BodyError` if the value is not valid JSON. Pauses after each half megabyte.
 */
export function* findLargeValues(
  bytes: Buffer,
  { from, to }: ByteRange,
  { minBytes, mayLift }: LargeOptions,
): Steps<readonly LargeValue[]> {
  const found: LargeValue[] = [];
  const open: Container[] = [];
  let saved = 0;
  let name: string | undefined;
  let expected = VALUE;
  let at = from;
  let pauseAt = from + STEP_BYTES;
  const fail = (): BodyError => new BodyError(`byte ${at} is out of place`);
  for (;;) {
    if (at >= pauseAt) {
      pauseAt = at + STEP_BYTES;
      yield;
    }
    if (at >= to) break;
    const byte = bytes[at] as number;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      at++;
      continue;
    }
    if (expected === AFTER_VALUE && open.length === 0) throw fail();
    if (byte === QUOTE) {
      if (expected === AFTER_NAME || expected === AFTER_VALUE) throw fail();
      const start = at++;
      for (;;) {
        const inner = bytes[at++];
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) at = afterEscape(bytes, at);
        else if (inner === undefined || inner < 0x20 || at > to) throw fail();
        if (at >= pauseAt) {
          pauseAt = at + STEP_BYTES;
          yield;
        }
      }
      if (expected === NAME || expected === NAME_OR_END) {
        name = at - start > 34 ? "" : bytes.toString("latin1", start + 1, at - 1);
        expected = AFTER_NAME;
      } else {
        if (at - start > minBytes) {
          found.push({ from: start, to: at, isText: true });
          saved += at - start;
        }
        expected = AFTER_VALUE;
      }
      continue;
    }
    if (byte === COLON && expected === AFTER_NAME) expected = VALUE;
    else if (byte === COMMA && expected === AFTER_VALUE) expected = open.at(-1)?.isObject ? NAME : VALUE;
    else if ((byte === OPEN_OBJECT || byte === OPEN_LIST) && expected <= VALUE_OR_END) {
      const isObject = byte === OPEN_OBJECT;
      const own = open.at(-1)?.isObject ? name : undefined;
      const isLifted = open.length > 0 && mayLift(own, open.length);
      open.push({ from: at, isObject, mayLift: isLifted, foundBefore: found.length, savedBefore: saved });
      expected = isObject ? NAME_OR_END : VALUE_OR_END;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      const { isObject, from: start, mayLift: isLifted, foundBefore, savedBefore } = open.pop() ?? NOT_OPEN;
      const mayEnd = expected === AFTER_VALUE || expected === (isObject ? NAME_OR_END : VALUE_OR_END);
      if (start < 0 || !mayEnd || isObject !== (byte === CLOSE_OBJECT)) throw fail();
      const size = at + 1 - start;
      if (isLifted && size - (saved - savedBefore) > minBytes) {
        found.length = foundBefore;
        found.push({ from: start, to: at + 1, isText: false });
        saved = savedBefore + size;
      }
      expected = AFTER_VALUE;
    } else if (expected <= VALUE_OR_END) {
      at = afterWord(bytes, at, to);
      expected = AFTER_VALUE;
      continue;
    } else throw fail();
    at++;
  }
  if (expected !== AFTER_VALUE || open.length > 0) throw new BodyError("it ends before it is whole");
  return found;
}

const NOT_OPEN: Container = { from: -1, isObject: false, mayLift: false, foundBefore: 0, savedBefore: 0 };
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/** The end of the escape whose backslash is just before `at`. */
function afterEscape(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === U) {
    for (let digit = 1; digit <= 4; digit++)
      if (!isHex(bytes[at + digit])) throw new BodyError(`byte ${at} is no escape`);
    return at + 5;
  }
  if (byte === undefined || !ESCAPES.has(byte)) throw new BodyError(`byte ${at} is no escape`);
  return at + 1;
}

function isHex(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

const WORD = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** The end of a number, true, false or null. */
function afterWord(bytes: Buffer, from: number, to: number): number {
  let at = from;
  // Fast path for short integers, the most common case.
  if ((bytes[at] as number) > 0x30) while (at < to && isDigit(bytes[at])) at++;
  if (at > from && isEnd(bytes[at], at, to) && at - from <= MAX_NUMBER_BYTES) return at;
  while (!isEnd(bytes[at], at, to)) at++;
  if (at - from > MAX_NUMBER_BYTES)
    throw new OddBodyError(`a number has more than ${MAX_NUMBER_BYTES} digits`);
  if (WORD.test(bytes.toString("latin1", from, at))) return at;
  throw new BodyError(`between bytes ${from} and ${at} it is no JSON`);
}

function isEnd(byte: number | undefined, at: number, to: number): boolean {
  if (at >= to || byte === undefined) return true;
  return byte <= 0x20 || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST;
}
