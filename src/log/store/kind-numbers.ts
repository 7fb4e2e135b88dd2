import type { EntryKind } from "../../model/entry.ts";

/** Numbers of the entry kinds on disk; part of the file format, never reused. */
const NUMBER_OF: Readonly<Record<EntryKind, number>> = {
  message: 1,
  notice: 2,
  line: 3,
  redacted: 4,
  usage: 5,
  overlay: 6,
  raw: 7,
  pin: 8,
  task: 9,
  damaged: 10,
};

const KIND_OF = new Map(Object.entries(NUMBER_OF).map(([kind, number]) => [number, kind as EntryKind]));

export function toKindNumber(kind: EntryKind): number {
  return NUMBER_OF[kind];
}

/** The kind of a number; undefined if this version does not know it. */
export function toKind(number: number): EntryKind | undefined {
  return KIND_OF.get(number);
}
