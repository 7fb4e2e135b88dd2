import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import { checkFields } from "../model/argument-checks.ts";
import { checkSessionId, type Entry, type SessionId } from "../model/entry.ts";
import { checkWholeNumber } from "../model/errors.ts";

/** Options of reading the newest messages of a session. */
export interface ReadNewestOptions {
  readonly limit: number;
  /** Nothing is read if the session's last entry is older than this time. */
  readonly since?: number;
}

/** The newest messages of a session, newest first. */
export async function readNewest(
  log: Log,
  session: SessionId,
  options: ReadNewestOptions,
): Promise<readonly Entry[]> {
  const { entries } = log.store;
  const { limit, since = 0 } = checkFields("options", options, { since: "number?" });
  checkWholeNumber("limit", limit, 1, 100);
  if ((await entries.head(checkSessionId(session))).at < since) return [];
  const query = { from: 1, to: Number.POSITIVE_INFINITY, order: "descending", kinds: ["message"] } as const;
  return (await entries.read(session, { ...query, limit })).map((one) => toEntry(session, one));
}
