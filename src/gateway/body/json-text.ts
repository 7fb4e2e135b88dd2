import { BodyError, type Range } from "./cut.ts";

const SLICE_BYTES = 256 * 1_024;
/** The longest escape is that of a pair of surrogates. */
const LONGEST_ESCAPE = 12;
/** Bytes before the end of a slice in which a place to cut is looked for. */
const CUT_WITHIN = 4_096;
const QUOTE = Buffer.from('"');
const BACKSLASH = 0x5c;
const U = 0x75;

/** A stretch of what a JSON string says. */
export interface TextSlice {
  readonly text: string;
  /** The same in UTF-8; part of the body where that is the same. */
  readonly bytes: Uint8Array;
}

/** What a JSON string says, slice by slice; `range` holds it with its quotes. Never a second copy of all of it. */
export function* textSlices(bytes: Buffer, { from, to }: Range): Generator<TextSlice> {
  const end = to - 1;
  for (let at = from + 1; at < end; ) {
    const next = sliceEnd(bytes, at, end);
    const text = parsedText(bytes, at, next);
    // As many characters as bytes: nothing was escaped, and all is ASCII.
    const isPlain = text.length === next - at;
    yield { text, bytes: isPlain ? bytes.subarray(at, next) : Buffer.from(text) };
    at = next;
  }
}

/** Bytes of a value, slice by slice. */
export function* rawSlices(bytes: Buffer, { from, to }: Range): Generator<Uint8Array> {
  for (let at = from; at < to; at += SLICE_BYTES) yield bytes.subarray(at, Math.min(to, at + SLICE_BYTES));
}

/** The bytes of base64 in a JSON string, slice by slice; of a data URL, those behind its comma. */
export function* base64Slices(bytes: Buffer, range: Range): Generator<Uint8Array> {
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

/** A place to cut: neither inside an escape, nor between those of a pair, nor inside a character. */
function sliceEnd(bytes: Buffer, from: number, end: number): number {
  const wanted = from + SLICE_BYTES;
  if (wanted >= end) return end;
  let plain = 0;
  for (let at = wanted - CUT_WITHIN; at <= wanted; at++) {
    if (plain >= LONGEST_ESCAPE && ((bytes[at] as number) & 0xc0) !== 0x80) return at;
    plain = bytes[at] === BACKSLASH ? 0 : plain + 1;
  }
  // Escapes all over: they are counted from the beginning.
  let at = from;
  while (at < wanted || isLowSurrogate(bytes, at) || ((bytes[at] as number) & 0xc0) === 0x80)
    at += bytes[at] === BACKSLASH ? (bytes[at + 1] === U ? 6 : 2) : 1;
  return Math.min(at, end);
}

/** True for the escape of a second half of a pair. */
function isLowSurrogate(bytes: Buffer, at: number): boolean {
  return bytes[at] === BACKSLASH && /^\\u[dD][c-fC-F]/.test(bytes.toString("latin1", at, at + 4));
}
