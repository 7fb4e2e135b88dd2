import type { SessionRecord } from "../index.ts";

/** A session at its place in a list of families. */
export interface FamilyMember {
  readonly session: SessionRecord;
  /** How many of its ancestors stand above it. */
  readonly depth: number;
}

/** Sessions in the given order, but each child right below its parent if both are there. */
export function inFamilies(sessions: readonly SessionRecord[]): readonly FamilyMember[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const children = Map.groupBy(sessions, ({ parent }) =>
    parent !== undefined && ids.has(parent) ? parent : undefined,
  );
  const below = (parent: string | undefined, depth: number): readonly FamilyMember[] =>
    (children.get(parent) ?? []).flatMap((session) => [{ session, depth }, ...below(session.id, depth + 1)]);
  return below(undefined, 0);
}
