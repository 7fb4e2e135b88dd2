import type { SessionRecord } from "../index.ts";

/** A session in a list that nests children under parents. */
interface FamilyMember {
  readonly session: SessionRecord;
  /** Number of its ancestors in the list. */
  readonly depth: number;
}

/** Orders sessions as given, with each child right below its parent if both are in the list. */
export function groupFamilies(sessions: readonly SessionRecord[]): readonly FamilyMember[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const children = Map.groupBy(sessions, ({ parent }) =>
    parent !== undefined && ids.has(parent) ? parent : undefined,
  );
  const below = (parent: string | undefined, depth: number): readonly FamilyMember[] =>
    (children.get(parent) ?? []).flatMap((session) => [{ session, depth }, ...below(session.id, depth + 1)]);
  return below(undefined, 0);
}
