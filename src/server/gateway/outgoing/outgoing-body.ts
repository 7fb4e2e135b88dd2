import type { ByteRange, OutgoingPiece } from "../request/cut-body.ts";
import type { RequestMessages } from "../request/request-messages.ts";
import { encodePieces } from "./outgoing-pieces.ts";

/** Changes to a body. */
export interface BodyChanges {
  /** The elements to send; undefined for no change. */
  readonly pieces: readonly OutgoingPiece[] | undefined;
  /** Fields to set or add. */
  readonly fields?: ReadonlyMap<string, unknown>;
  /** Entries to append to list fields; missing fields are created. */
  readonly appended?: ReadonlyMap<string, readonly unknown[]>;
  /** Fields to remove. */
  readonly removed?: readonly string[];
}

/** A body with changes, in pieces; the original bytes if there are none. */
export function buildOutgoingBody(
  { cut }: Pick<RequestMessages, "cut">,
  changes: BodyChanges,
): readonly Uint8Array[] {
  const { bytes, fields, listFrom } = cut;
  const made: ByteChange[] = [];
  for (const [name, value] of changes.fields ?? []) {
    const range = fields.get(name);
    if (range) made.push({ range, bytes: Buffer.from(JSON.stringify(value)) });
    else made.push({ range: getStart(bytes), bytes: formatField(name, value, fields.size === 0) });
  }
  for (const [name, entries] of changes.appended ?? []) {
    const range = fields.get(name);
    if (range) made.push(appendEntries(bytes, range, entries));
    else made.push({ range: getStart(bytes), bytes: formatField(name, entries, fields.size === 0) });
  }
  const removed = (changes.removed ?? []).flatMap((name) => fields.get(name) ?? []);
  if (removed.length > 0)
    for (const range of findFieldRuns(bytes, removed)) made.push({ range, bytes: NO_BYTES });
  const { pieces } = changes;
  if (pieces && listFrom !== undefined) {
    const list = [...fields.values()].find(({ from }) => from === listFrom);
    if (list) made.push({ range: list, bytes: encodePieces(cut, pieces) });
  }
  return made.length === 0 ? [bytes] : spliceBody(bytes, made);
}

const NO_BYTES = Buffer.alloc(0);
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The position before all fields. */
function getStart(bytes: Buffer): ByteRange {
  const from = bytes.indexOf("{") + 1;
  return { from, to: from };
}

/** Appends entries to a list. */
function appendEntries(bytes: Buffer, list: ByteRange, entries: readonly unknown[]): ByteChange {
  const at = list.to - 1;
  const isEmpty = bytes.subarray(list.from + 1, at).every(isSpace);
  const text = entries.map((entry) => JSON.stringify(entry)).join(",");
  return { range: { from: at, to: at }, bytes: Buffer.from(isEmpty ? text : `,${text}`) };
}

function formatField(name: string, value: unknown, isOnly: boolean): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}${isOnly ? "" : ","}`);
}

/** The bytes to remove for some fields: runs of neighbors with their names and one comma next to each run. */
function findFieldRuns(bytes: Buffer, values: readonly ByteRange[]): readonly ByteRange[] {
  const runs: { from: number; to: number }[] = [];
  for (const value of values.toSorted((one, other) => one.from - other.from)) {
    const field = { from: findNameStart(bytes, value.from), to: value.to };
    const last = runs.at(-1);
    const isNext = last && skipSpace(bytes, skipSpace(bytes, last.to) + 1) === field.from;
    if (last && isNext) last.to = field.to;
    else runs.push(field);
  }
  return runs.map((run) => withComma(bytes, run));
}

/** The position of the opening quote of a field's name, from the start of its value. */
function findNameStart(bytes: Buffer, valueFrom: number): number {
  const end = bytes.lastIndexOf(QUOTE, valueFrom - 1);
  let from = bytes.lastIndexOf(QUOTE, end - 1);
  while (isEscaped(bytes, from)) from = bytes.lastIndexOf(QUOTE, from - 1);
  return from;
}

/** True for a quote after an odd number of backslashes. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let from = at;
  while (bytes[from - 1] === BACKSLASH) from--;
  return (at - from) % 2 === 1;
}

function withComma(bytes: Buffer, { from, to }: ByteRange): ByteRange {
  const after = skipSpace(bytes, to);
  if (bytes[after] === COMMA) return { from, to: after + 1 };
  let before = from - 1;
  while (isSpace(bytes[before])) before--;
  return bytes[before] === COMMA ? { from: before, to } : { from, to };
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A replacement of a range of bytes, in one or more pieces. */
export interface ByteChange {
  readonly range: ByteRange;
  readonly bytes: Uint8Array | readonly Uint8Array[];
}

/**
 * A body with changes, as pieces to be sent in order; the unchanged pieces are slices of the original. Throws
 * RangeError if changes overlap.
 */
export function spliceBody(body: Buffer, changes: readonly ByteChange[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { range, bytes } of changes.toSorted((one, other) => one.range.from - other.range.from)) {
    if (range.from < at) throw new RangeError(`changes overlap at byte ${range.from}`);
    if (range.from > at) pieces.push(body.subarray(at, range.from));
    if (!(bytes instanceof Uint8Array)) for (const one of bytes) pieces.push(one);
    else if (bytes.length > 0) pieces.push(bytes);
    at = range.to;
  }
  if (at < body.length) pieces.push(body.subarray(at));
  return pieces;
}

/** Total bytes of all pieces. */
export function countBytes(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of pieces) bytes += length;
  return bytes;
}

/** True if two bodies in pieces have the same bytes. */
export function isSameBody(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  if (countBytes(one) !== countBytes(other)) return false;
  let [index, at] = [0, 0];
  // Compares in place, because a joined copy would be as large as the request.
  for (const piece of one) {
    for (let from = 0; from < piece.length; ) {
      const beside = other[index];
      if (!beside) return false;
      const length = Math.min(piece.length - from, beside.length - at);
      if (Buffer.compare(piece.subarray(from, from + length), beside.subarray(at, at + length)) !== 0)
        return false;
      from += length;
      at += length;
      if (at < beside.length) continue;
      index++;
      at = 0;
    }
  }
  return true;
}
