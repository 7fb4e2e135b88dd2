import type { Place, SessionId } from "../../index.ts";

/** How an entry is named to readers of a session: a fork shows entries of another one's log, too. */
export function cite({ session, seq }: Place, reader: SessionId): string {
  return session === reader ? `#${seq}` : `${session}#${seq}`;
}
