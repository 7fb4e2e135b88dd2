import { withUnits } from "./text-units.ts";

/** Number of a name's first units that are hashed; shorter names are sought one by one. */
const HASHED_UNITS = 4;
const TABLE_SIZE = 65_536;

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
