import type { Session } from "../index.ts";

const NAME = "overflows";

/** Counts an overflow error that the client of a conversation gets. */
export async function recordOverflow(session: Pick<Session, "facts">): Promise<void> {
  await session.facts.set(NAME, (await readOverflows(session)) + 1);
}

/** The number of overflow errors that the client of a conversation got. */
export async function readOverflows({ facts }: Pick<Session, "facts">): Promise<number> {
  const count = await facts.get(NAME);
  return typeof count === "number" ? count : 0;
}
