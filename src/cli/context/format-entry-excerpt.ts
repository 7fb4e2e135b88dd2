import type { Place } from "../../kernel/faces/log.ts";
import { type Entry, type SessionId, textOfMessage } from "../../kernel/index.ts";
import { escapeLine } from "../terminal/escape.ts";
import { fitText } from "../terminal/width.ts";

const MAX_CHARACTERS = 400;

/** Formats the role and the beginning of an entry's text. */
export function formatEntryExcerpt(entry: Entry, columns = 60): string {
  if (entry.kind !== "message") return entry.kind;
  const text = escapeLine(textOfMessage(entry.message).slice(0, MAX_CHARACTERS));
  return fitText(text === "" ? entry.message.role : `${entry.message.role}: ${text}`, columns);
}

/** Names an entry for a reader of `reader`: with its session if the entry is from another log, as in a fork. */
export function citeEntry({ session, seq }: Place, reader: SessionId): string {
  return session === reader ? `#${seq}` : `${session}#${seq}`;
}
