import type { Message } from "../../model/message.ts";
import { buildClueKey } from "../extract/clue-table.ts";
import { listPartTexts } from "../extract/part-text.ts";
import { scanIdentifiers, scanUnits } from "../extract/scan-identifiers.ts";
import { withUnits } from "../extract/text-units.ts";
import type { Slot } from "../slot.ts";

/** Maximum number of names listed in a receipt, and of names searched for inside other words of the window. */
const MAX_NAMED = 50;
const MAX_SEARCHED = 60;

/** Number of a name's first units that are hashed; shorter names are sought one by one. */
const HASHED_UNITS = 4;
const TABLE_SIZE = 65_536;

/**
 * Identifiers that the agent or the user named and that are no longer in the window, most used first. Names found only
 * in tool output do not count, because nobody has used them yet.
 */
export function findRemovedNames(
  before: readonly Slot[],
  after: readonly Slot[],
): { readonly identifiers: number; readonly named: readonly string[] } {
  const stays = new Set(after.map(({ message }) => message));
  const counts = new Map<string, number>();
  for (const { message } of before) {
    if (stays.has(message)) continue;
    for (const text of listOwnTexts(message))
      scanIdentifiers(text, false, (name) => counts.set(name, (counts.get(name) ?? 0) + 1));
  }
  if (counts.size === 0) return { identifiers: 0, named: [] };
  const texts = after.flatMap(({ message }) =>
    listPartTexts(message, () => undefined).map(({ text }) => text),
  );
  deleteShown(counts, texts);
  const missing = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
  const searched = missing.slice(0, MAX_SEARCHED);
  const contained = findContained(searched, texts);
  const named = searched.filter((name) => !contained.has(name));
  const found = Math.min(missing.length, MAX_SEARCHED) - named.length;
  return { identifiers: missing.length - found, named: named.slice(0, MAX_NAMED) };
}

/** Deletes the names that stand in texts. Most identifiers of a window are none of them, so their hashes are compared. */
function deleteShown(counts: Map<string, number>, texts: readonly string[]): void {
  const keys = new Set<number>();
  for (const name of counts.keys())
    withUnits(name, (units, length) => keys.add(buildClueKey(units, 0, length, false)));
  for (const text of texts)
    withUnits(text, (own, length) =>
      scanUnits(own, 0, length, true, (units, from, to) => {
        if (keys.has(buildClueKey(units, from, to, false)))
          counts.delete(String.fromCharCode(...units.subarray(from, to)));
      }),
    );
}

function listOwnTexts(message: Message): readonly string[] {
  return listPartTexts(message, () => undefined).flatMap(({ text, origin }) =>
    origin === "result" || origin === "read" || origin === "reasoning" ? [] : [text],
  );
}

/** The names that stand anywhere in one of the texts. One pass over the texts, however many names there are. */
export function findContained(names: readonly string[], texts: readonly string[]): ReadonlySet<string> {
  const found = new Set(
    names.filter((name) => name.length < HASHED_UNITS && texts.some((text) => text.includes(name))),
  );
  const isStart = new Uint8Array(TABLE_SIZE);
  const byStart = new Map<number, string[]>();
  for (const name of names) {
    if (name.length < HASHED_UNITS) continue;
    withUnits(name, (units) => {
      const start = hashStart(units, 0);
      isStart[start] = 1;
      byStart.set(start, [...(byStart.get(start) ?? []), name]);
    });
  }
  for (const text of byStart.size === 0 ? [] : texts)
    withUnits(text, (units, length) => {
      for (let at = 0; at <= length - HASHED_UNITS; at++) {
        const start = hashStart(units, at);
        if (isStart[start] === 0) continue;
        for (const name of byStart.get(start) ?? []) if (text.startsWith(name, at)) found.add(name);
      }
    });
  return found;
}

function hashStart(units: Uint16Array, at: number): number {
  const [one, two] = [units[at] as number, units[at + 1] as number];
  const [three, four] = [units[at + 2] as number, units[at + 3] as number];
  return (one + two * 31 + three * 961 + four * 29_791) & (TABLE_SIZE - 1);
}
