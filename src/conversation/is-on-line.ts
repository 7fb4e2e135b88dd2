import type { Session } from "../index.ts";
import type { Place } from "../log-entry.ts";

/** Checks whether a place is on the active line of a session. */
export async function isOnLine(session: Session, { session: owner, seq }: Place): Promise<boolean> {
  const [active] = await session.lines(1);
  return (active?.ranges ?? []).some(
    (range) => range.session === owner && seq >= range.from && seq <= range.to,
  );
}
