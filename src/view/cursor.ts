import { formatEntryId, type Place, parseEntryId } from "../model/entry.ts";
import { createArgumentError } from "../model/errors.ts";

/** A position on a line to continue paging from; opaque to callers and valid as long as the session exists. */
export type Cursor = string;

/** A line, and the last entry seen on it; undefined at the start of a line. */
interface CursorPlace {
  readonly lineSeq: number;
  readonly at: Place | undefined;
}

/** Formats a cursor as `<line seq>@<entry id>`. */
export function formatCursor({ lineSeq, at }: CursorPlace): Cursor {
  return `${lineSeq}@${at ? formatEntryId(at.session, at.seq) : ""}`;
}

/** Parses a cursor; throws ARGUMENT_INVALID if it is malformed. */
export function parseCursor(cursor: Cursor, option: string): CursorPlace {
  const match = typeof cursor === "string" ? /^(\d{1,10})@(.*)$/s.exec(cursor) : null;
  if (!match) throw createArgumentError(option, cursor, "a cursor from an earlier page");
  return { lineSeq: Number(match[1]), at: match[2] ? parseEntryId(match[2]) : undefined };
}
