import type { RecalledHit } from "./recall-result.ts";

/** Joins hits of the same stretch of work, in the order of the best one of each. */
export function groupHits(hits: readonly RecalledHit[]): readonly (readonly RecalledHit[])[] {
  const groups = new Map<string, RecalledHit[]>();
  for (const [index, hit] of hits.entries()) {
    const key = getWorkKey(hit) ?? String(index);
    const group = groups.get(key);
    if (group) group.push(hit);
    else groups.set(key, [hit]);
  }
  return [...groups.values()];
}

function getWorkKey(hit: RecalledHit): string | undefined {
  const { work } = hit.details ?? {};
  return hit.kind === "session" && work ? `${hit.session}#${work.from}-${work.to}` : undefined;
}
