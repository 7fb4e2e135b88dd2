import type { Range } from "../body/cut.ts";
import { type Change, splice } from "../body/splice.ts";
import type { WireMessages } from "../body/wire-message.ts";
import { listBytes, type Piece } from "../thread/outgoing.ts";

/** Changes to a body. */
export interface BodyChanges {
  /** The elements to send; undefined for no change. */
  readonly pieces: readonly Piece[] | undefined;
  /** Fields to set or add. */
  readonly fields?: ReadonlyMap<string, unknown>;
  /** Entries to append to list fields; missing fields are created. */
  readonly behind?: ReadonlyMap<string, readonly unknown[]>;
  /** Fields to remove. */
  readonly without?: readonly string[];
}

/** A body with changes, in pieces; the original bytes if there are none. */
export function outgoingBody(
  { cut }: Pick<WireMessages, "cut">,
  changes: BodyChanges,
): readonly Uint8Array[] {
  const { bytes, fields, listFrom } = cut;
  const made: Change[] = [];
  for (const [name, value] of changes.fields ?? []) {
    const range = fields.get(name);
    if (range) made.push({ range, bytes: Buffer.from(JSON.stringify(value)) });
    else made.push({ range: atStart(bytes), bytes: newField(name, value, fields.size === 0) });
  }
  for (const [name, entries] of changes.behind ?? []) {
    const range = fields.get(name);
    if (range) made.push(atEnd(bytes, range, entries));
    else made.push({ range: atStart(bytes), bytes: newField(name, entries, fields.size === 0) });
  }
  const removed = (changes.without ?? []).flatMap((name) => fields.get(name) ?? []);
  for (const range of fieldRuns(bytes, removed)) made.push({ range, bytes: NOTHING });
  const { pieces } = changes;
  if (pieces && listFrom !== undefined) {
    const list = [...fields.values()].find(({ from }) => from === listFrom);
    if (list) made.push({ range: list, bytes: listBytes(cut, pieces) });
  }
  return made.length === 0 ? [bytes] : splice(bytes, made);
}

const NOTHING = Buffer.alloc(0);
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The position before all fields. */
function atStart(bytes: Buffer): Range {
  const from = bytes.indexOf("{") + 1;
  return { from, to: from };
}

/** Appends entries to a list. */
function atEnd(bytes: Buffer, list: Range, entries: readonly unknown[]): Change {
  const at = list.to - 1;
  const isEmpty = bytes.subarray(list.from + 1, at).every(isSpace);
  const text = entries.map((entry) => JSON.stringify(entry)).join(",");
  return { range: { from: at, to: at }, bytes: Buffer.from(isEmpty ? text : `,${text}`) };
}

function newField(name: string, value: unknown, isOnly: boolean): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}${isOnly ? "" : ","}`);
}

/** The bytes to remove for some fields: runs of neighbors with their names and one comma next to each run. */
function fieldRuns(bytes: Buffer, values: readonly Range[]): readonly Range[] {
  const runs: { from: number; to: number }[] = [];
  for (const value of values.toSorted((one, other) => one.from - other.from)) {
    const field = { from: nameStart(bytes, value.from), to: value.to };
    const last = runs.at(-1);
    const isNext = last && afterSpace(bytes, afterSpace(bytes, last.to) + 1) === field.from;
    if (last && isNext) last.to = field.to;
    else runs.push(field);
  }
  return runs.map((run) => withComma(bytes, run));
}

/** The position of the opening quote of a field's name, from the start of its value. */
function nameStart(bytes: Buffer, valueFrom: number): number {
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

function withComma(bytes: Buffer, { from, to }: Range): Range {
  const after = afterSpace(bytes, to);
  if (bytes[after] === COMMA) return { from, to: after + 1 };
  let before = from - 1;
  while (isSpace(bytes[before])) before--;
  return bytes[before] === COMMA ? { from: before, to } : { from, to };
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
