import { createHash } from "node:crypto";
import type { Steps, Turns } from "../../../model/base/turns.ts";
import { BodyError, type ByteRange, OddBodyError, parseRange } from "./cut-body.ts";

/** A large value that stays in the body, and the short text that takes its place in the parsed value. */
export interface LiftedValue extends LargeValue {
  readonly placeholder: string;
  /** SHA-256 of a decoded text, or of a container's bytes. */
  readonly digest: string;
  /** Size of the hashed bytes. */
  readonly sizeBytes: number;
}

/** A parsed value with placeholders for its large values. */
export interface Lifted {
  readonly value: unknown;
  /** Large values by mark. */
  readonly values: ReadonlyMap<string, LiftedValue>;
}

/**
 * Smaller elements are parsed whole. Depends only on the element, so that a message is read the same way in every
 * request.
 */
export const LIFT_FROM_BYTES = 1_024 * 1_024;
/** Size from which a value becomes a separate blob. */
const LARGE_BYTES = 64 * 1_024;
/** An element with a larger rest does not fit into an entry, so smaller values are lifted, too. */
const MAX_REST_BYTES = 3_500_000;
const SMALLER_BYTES = 1_024;
const MAX_SMALLER = 1_000;
/** Characters of the original text at the start of its placeholder. */
const HEAD_LENGTH = 1_024;
/** Valid base64. A forged mark has no effect, because only marks of the same element are looked up. */
const MARKER = "longhaulLifted";
/** Matches the mark in a placeholder. */
export const MARK = /longhaulLifted[tj][0-9a-f]{64}/g;

/** Containers that every API treats as one value: the arguments of a tool call. */
const ARGUMENTS = new Set(["input", "arguments", "action"]);

/** True if a text may contain a placeholder. */
export function hasMark(text: string): boolean {
  return text.includes(MARKER);
}

/**
 * Parses a value of a body without its large values. If the rest is too large, up to `mostSmaller` smaller values are
 * lifted, or else whole fields. Throws `BodyError` for invalid JSON, `OddBodyError` if the rest is still too large.
 */
export async function lift(
  bytes: Buffer,
  range: ByteRange,
  turns: Turns,
  mostSmaller = MAX_SMALLER,
): Promise<Lifted> {
  for (const options of MANNERS) {
    const found = await turns.finish(findLargeValues(bytes, range, options));
    const isMany = options !== USUAL && options !== WHOLE_FIELDS && found.length > mostSmaller;
    if (isMany || restOf(range, found) > MAX_REST_BYTES) continue;
    const values: LiftedValue[] = [];
    for (const value of found) {
      const lifted = await liftedValue(bytes, value, turns);
      // The decoded text can be much shorter than its escaped bytes.
      if (!value.isText || lifted.sizeBytes > options.minBytes) values.push(lifted);
    }
    if (restOf(range, values) > 2 * MAX_REST_BYTES) continue;
    return withPlaceholders(bytes, range, values);
  }
  throw new OddBodyError("a message has more than can be kept of one");
}

const USUAL: LargeOptions = {
  minBytes: LARGE_BYTES,
  mayLift: (name) => name !== undefined && ARGUMENTS.has(name),
};
const SMALLER: LargeOptions = { ...USUAL, minBytes: SMALLER_BYTES };
const WHOLE_FIELDS: LargeOptions = { minBytes: LARGE_BYTES, mayLift: (_, depth) => depth === 1 };
/** Tried in order until the rest is small enough. */
const MANNERS: readonly LargeOptions[] = [USUAL, SMALLER, WHOLE_FIELDS];

function restOf({ from, to }: ByteRange, found: readonly ByteRange[]): number {
  return found.reduce((rest, value) => rest - (value.to - value.from), to - from);
}

async function liftedValue(bytes: Buffer, value: LargeValue, turns: Turns): Promise<LiftedValue> {
  const hash = createHash("sha256");
  if (!value.isText) {
    for (const slice of rawSlices(bytes, value)) {
      hash.update(slice);
      await turns.rest();
    }
    const digest = hash.digest("hex");
    return { ...value, digest, sizeBytes: value.to - value.from, placeholder: `${MARKER}j${digest}` };
  }
  let head = "";
  let length = 0;
  let sizeBytes = 0;
  let isBase64 = true;
  let isEnded = false;
  for (const slice of textSlices(bytes, value)) {
    if (length === 0) head = slice.text.slice(0, HEAD_LENGTH);
    // Padding may occur only at the very end.
    isBase64 &&= !isEnded && BASE64.test(length === 0 ? slice.text.slice(HEAD_LENGTH) : slice.text);
    isEnded = slice.text.endsWith("=");
    length += slice.text.length;
    sizeBytes += slice.bytes.length;
    hash.update(slice.bytes);
    await turns.rest();
  }
  const digest = hash.digest("hex");
  const mark = `${head}${MARKER}t${digest}`;
  // Base64 decoders check the characters and the length, so the placeholder keeps both valid.
  const placeholder = isBase64
    ? mark + "A".repeat((4 + (length % 4) - (mark.length % 4)) % 4)
    : `${mark}\u0001`;
  return { ...value, digest, sizeBytes, placeholder };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function withPlaceholders(bytes: Buffer, range: ByteRange, lifted: readonly LiftedValue[]): Lifted {
  const pieces: Uint8Array[] = [];
  const values = new Map<string, LiftedValue>();
  let at = range.from;
  for (const value of lifted) {
    pieces.push(bytes.subarray(at, value.from), Buffer.from(JSON.stringify(value.placeholder)));
    values.set(`${MARKER}${value.isText ? "t" : "j"}${value.digest}`, value);
    at = value.to;
  }
  pieces.push(bytes.subarray(at, range.to));
  const whole = Buffer.concat(pieces);
  return { value: parseRange(whole, { from: 0, to: whole.length }), values };
}

const SLICE_BYTES = 256 * 1_024;
/** Bytes of the longest escape, that of a surrogate pair. */
const LONGEST_ESCAPE = 12;
/** Bytes at the end of a slice that are searched for a place to cut. */
const CUT_WITHIN = 4_096;
const QUOTE_BYTES = Buffer.from('"');

/** A piece of a decoded JSON string. */
interface TextSlice {
  readonly text: string;
  /** `text` in UTF-8; a slice of the body where its bytes are the same. */
  readonly bytes: Uint8Array;
}

/** Decodes a JSON string slice by slice, without a copy of the whole string; `range` includes the quotes. */
export function* textSlices(bytes: Buffer, { from, to }: ByteRange): Generator<TextSlice> {
  const end = to - 1;
  for (let at = from + 1; at < end; ) {
    const next = sliceEnd(bytes, at, end);
    const text = parsedText(bytes, at, next);
    // Equal numbers of characters and bytes mean ASCII without escapes.
    const isPlain = text.length === next - at;
    yield { text, bytes: isPlain ? bytes.subarray(at, next) : Buffer.from(text) };
    at = next;
  }
}

/** The bytes of a value in slices. */
export function* rawSlices(bytes: Buffer, { from, to }: ByteRange): Generator<Uint8Array> {
  for (let at = from; at < to; at += SLICE_BYTES) yield bytes.subarray(at, Math.min(to, at + SLICE_BYTES));
}

/** Decodes the base64 of a JSON string slice by slice; in a data URL, only the part after the comma. */
export function* base64Slices(bytes: Buffer, range: ByteRange): Generator<Uint8Array> {
  let rest = "";
  let isFirst = true;
  for (const { text } of textSlices(bytes, range)) {
    const own = isFirst && text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text;
    isFirst = false;
    const whole = rest + own;
    const length = whole.length - (whole.length % 4);
    rest = whole.slice(length);
    yield Buffer.from(whole.slice(0, length), "base64");
  }
  if (rest !== "") yield Buffer.from(rest, "base64");
}

function parsedText(bytes: Buffer, from: number, to: number): string {
  try {
    return JSON.parse(Buffer.concat([QUOTE_BYTES, bytes.subarray(from, to), QUOTE_BYTES]).toString("utf8"));
  } catch (error) {
    throw new BodyError(`between bytes ${from} and ${to} it is no JSON`, { cause: error });
  }
}

/** Finds a place to cut that splits no escape, surrogate pair or multi-byte character. */
function sliceEnd(bytes: Buffer, from: number, end: number): number {
  const wanted = from + SLICE_BYTES;
  if (wanted >= end) return end;
  let plain = 0;
  for (let at = wanted - CUT_WITHIN; at <= wanted; at++) {
    if (plain >= LONGEST_ESCAPE && ((bytes[at] as number) & 0xc0) !== 0x80) return at;
    plain = bytes[at] === BACKSLASH ? 0 : plain + 1;
  }
  // Escapes are too dense to find a gap, so step over them from the beginning.
  let at = from;
  while (at < wanted || isLowSurrogate(bytes, at) || ((bytes[at] as number) & 0xc0) === 0x80)
    at += bytes[at] === BACKSLASH ? (bytes[at + 1] === U ? 6 : 2) : 1;
  return Math.min(at, end);
}

/** True for the escape of a low surrogate. */
function isLowSurrogate(bytes: Buffer, at: number): boolean {
  return bytes[at] === BACKSLASH && /^\\u[dD][c-fC-F]/.test(bytes.toString("latin1", at, at + 4));
}

/** A JSON value that is too large to parse: a string with its quotes, an object or a list. */
interface LargeValue extends ByteRange {
  readonly isText: boolean;
}

/** Rules for which values count as large. */
interface LargeOptions {
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
