import type { SessionId } from "../../index.ts";
import type { Place } from "../../log-entry.ts";

/** Names an entry for a reader of `reader`: with its session if the entry is from another log, as in a fork. */
export function citeEntry({ session, seq }: Place, reader: SessionId): string {
  return session === reader ? `#${seq}` : `${session}#${seq}`;
}
