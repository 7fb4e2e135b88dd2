import { entryId, type Place, parseEntryId } from "../model/entry.ts";
import { invalidArgument } from "../model/errors.ts";

/** A place on a line, to go on paging from; opaque to callers and valid for as long as the session lives. */
export type Cursor = string;

/** What a cursor says: a line, and the entry on it that was seen last; none at the start of a line. */
export interface CursorPlace {
  readonly lineSeq: number;
  readonly at: Place | undefined;
}

/** Writes a cursor as `<line seq>@<entry id>`. */
export function writeCursor({ lineSeq, at }: CursorPlace): Cursor {
  return `${lineSeq}@${at ? entryId(at.session, at.seq) : ""}`;
}

/** Reads a cursor; ARGUMENT_INVALID if it is none. */
export function readCursor(cursor: Cursor, option: string): CursorPlace {
  const match = typeof cursor === "string" ? /^(\d{1,10})@(.*)$/s.exec(cursor) : null;
  if (!match) throw invalidArgument(option, cursor, "a cursor from an earlier page");
  return { lineSeq: Number(match[1]), at: match[2] ? parseEntryId(match[2]) : undefined };
}
