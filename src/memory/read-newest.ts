import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import { checkFields } from "../model/argument-checks.ts";
import { checkSessionId, type Entry, type SessionId } from "../model/entry.ts";
import { checkWholeNumber } from "../model/errors.ts";

/** Limits of a reading. */
export interface NewestOptions {
  readonly limit: number;
  /** Time in milliseconds; a session without a later entry is not read. */
  readonly since?: number;
}

/** Reads the newest messages of a session, newest first, and nothing else of it. */
export async function readNewestMessages(
  { store: { entries } }: Pick<Log, "store">,
  session: SessionId,
  options: NewestOptions,
): Promise<readonly Entry[]> {
  const { limit, since = 0 } = checkFields("options", options, { since: "number?" });
  checkWholeNumber("limit", limit, 1, 100);
  if ((await entries.head(checkSessionId(session))).at < since) return [];
  const query = { from: 1, to: Number.POSITIVE_INFINITY, order: "descending", kinds: ["message"] } as const;
  return (await entries.read(session, { ...query, limit })).map((one) => toEntry(session, one));
}
