import type { ByteRange } from "./byte-range.ts";
import { BodyError } from "./cut-body.ts";

const SLICE_BYTES = 256 * 1_024;
/** Bytes of the longest escape, that of a surrogate pair. */
const LONGEST_ESCAPE = 12;
/** Bytes at the end of a slice that are searched for a place to cut. */
const CUT_WITHIN = 4_096;
const QUOTE = Buffer.from('"');
const BACKSLASH = 0x5c;
const U = 0x75;

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
    return JSON.parse(Buffer.concat([QUOTE, bytes.subarray(from, to), QUOTE]).toString("utf8"));
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
