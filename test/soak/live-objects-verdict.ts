import type { LiveObjects } from "./live-objects.ts";

/** Classes whose number of live objects rose by more than `maxRise`. */
export function risenObjects(objects: readonly LiveObjects[], maxRise: number): readonly string[] {
  const [before, after] = [objects.at(0), objects.at(-1)];
  if (!before || !after) return [];
  return Object.entries(after).flatMap(([name, count]) => {
    const rise = count - before[name as keyof LiveObjects];
    return rise > maxRise ? [`${name} +${rise}`] : [];
  });
}

/** The counts as one line of text. */
export function liveObjectsTable(objects: readonly LiveObjects[]): string {
  const names = Object.keys(objects.at(0) ?? {}) as (keyof LiveObjects)[];
  return names.map((name) => `${name} ${objects.map((counts) => counts[name]).join(" → ")}`).join(", ");
}
