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
  for (const name of changes.without ?? []) {
    const range = fields.get(name);
    if (range) made.push({ range: wholeField(bytes, range), bytes: NOTHING });
  }
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

/** A field with its name and the comma next to it. */
function wholeField(bytes: Buffer, value: Range): Range {
  let from = value.from - 1;
  // Goes back over the colon to the closing quote of the name, then to its opening quote.
  while (bytes[from] !== QUOTE) from--;
  do from--;
  while (bytes[from] !== QUOTE || bytes[from - 1] === BACKSLASH);
  let { to } = value;
  while (isSpace(bytes[to])) to++;
  if (bytes[to] === COMMA) return { from, to: to + 1 };
  let before = from - 1;
  while (isSpace(bytes[before])) before--;
  return bytes[before] === COMMA ? { from: before, to: value.to } : { from, to: value.to };
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
