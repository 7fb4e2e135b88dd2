import { type Entry, textOfMessage } from "../../index.ts";
import { escapeLine } from "../escape.ts";
import { fitTo } from "../width.ts";

const MOST_CHARACTERS = 400;

/** Formats the role and the beginning of an entry's text. */
export function entryWords(entry: Entry, columns = 60): string {
  if (entry.kind !== "message") return entry.kind;
  const text = escapeLine(textOfMessage(entry.message).slice(0, MOST_CHARACTERS));
  return fitTo(text === "" ? entry.message.role : `${entry.message.role}: ${text}`, columns);
}
