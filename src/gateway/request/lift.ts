import { createHash } from "node:crypto";
import type { Turns } from "../../base/turns.ts";
import type { ByteRange } from "./byte-range.ts";
import { OddBodyError, parseRange } from "./cut-body.ts";
import { rawSlices, textSlices } from "./json-text.ts";
import { findLargeValues, type LargeOptions, type LargeValue } from "./large-values.ts";

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
 * Smaller elements are parsed whole. Depends on the element alone, so that a message is read the same way in every
 * request.
 */
export const LIFT_FROM_BYTES = 1_024 * 1_024;
/** Size from which a value becomes a blob of its own. */
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
