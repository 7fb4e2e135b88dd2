import type { Json, Session } from "../index.ts";

const NAME = "overflows";

/** Counts an overflow error that the client of a conversation gets. */
export async function recordOverflow(session: Pick<Session, "facts">): Promise<void> {
  await session.facts.change(NAME, (count) => toCount(count) + 1);
}

/** The number of overflow errors that the client of a conversation got. */
export async function readOverflows({ facts }: Pick<Session, "facts">): Promise<number> {
  return toCount(await facts.get(NAME));
}

function toCount(stored: Json | undefined): number {
  return typeof stored === "number" ? stored : 0;
}
