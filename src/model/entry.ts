import type { BlobRef } from "./blob.ts";
import { invalidArgument } from "./errors.ts";
import type { Json } from "./json.ts";
import type { SeqRange } from "./line.ts";
import type { Message } from "./message.ts";
import type { Edit, EditReason } from "./overlay.ts";
import type { Place, SessionId } from "./place.ts";
import type { TaskId, TaskNote } from "./task.ts";
import type { Usage } from "./usage.ts";

export type { Place, SessionId } from "./place.ts";

/** Names one entry: `<session id>#<seq>`. Derived, never stored. */
export type EntryId = string;

/** Names one entry by its seq, by its id, or by the exact time of a message on the active line. */
export type EntryRef = number | EntryId | Date;

/** A note for people; never sent to a model. */
export interface NoticeBody {
  readonly kind: "notice";
  readonly text: string;
}

/** What was said. */
export interface MessageBody {
  readonly kind: "message";
  readonly message: Message;
}

/** From here on the session's active line is `ranges` followed by everything after this entry. */
export interface LineBody {
  readonly kind: "line";
  readonly ranges: readonly SeqRange[];
  readonly reason: string;
  /** Seq of the line entry that was active before; 0 for the line a session is born with. */
  readonly previous: number;
  /** Last seq of the line that was active before: where it ends now. */
  readonly previousEnd: number;
}

/** What is left of an entry whose content was removed on request. */
export interface RedactedBody {
  readonly kind: "redacted";
  readonly was: EntryKind;
  readonly reason?: string;
}

/** Stands in the place of an entry whose content on disk is damaged and cannot be read. */
export interface DamagedBody {
  readonly kind: "damaged";
  /** What it was; undefined if that is damaged too. */
  readonly was?: EntryKind;
  /** What is wrong with it. */
  readonly problem: string;
}

/** What model calls used. Several reports of one request may follow each other: the last one counts. */
export interface UsageBody {
  readonly kind: "usage";
  readonly usage: Usage;
  readonly model?: string;
  readonly provider?: string;
  /** Names the request that is reported on. */
  readonly request?: string;
  /** Free for the caller; kept verbatim. */
  readonly meta?: { readonly [key: string]: Json };
}

/** A difference between the log and the window. */
export interface OverlayBody extends EditReason {
  readonly kind: "overlay";
  readonly edit: Edit;
}

/** A record of a foreign tool that means nothing to us, kept verbatim; a large one lies in a blob as JSON. */
export interface RawBody {
  readonly kind: "raw";
  readonly format: string;
  readonly value?: Json;
  readonly blob?: BlobRef;
}

/** An entry that must stay in the window as it is, or need no longer. */
export interface PinBody {
  readonly kind: "pin";
  readonly target: Place;
  readonly isPinned: boolean;
}

/** What became of a task, or what its agent said besides messages. */
export interface TaskBody {
  readonly kind: "task";
  readonly task: TaskId;
  readonly note: TaskNote;
}

/** The content of an entry. */
export type EntryBody =
  | MessageBody
  | NoticeBody
  | LineBody
  | RedactedBody
  | UsageBody
  | OverlayBody
  | RawBody
  | PinBody
  | TaskBody
  | DamagedBody;

/** What sort of record an entry is. */
export type EntryKind = EntryBody["kind"];

/** All kinds, for filters. */
export const ENTRY_KINDS = [
  "message",
  "notice",
  "line",
  "redacted",
  "usage",
  "overlay",
  "raw",
  "pin",
  "task",
  "damaged",
] as const satisfies readonly EntryKind[];

/** Returns the kinds if all of them exist, else throws ARGUMENT_INVALID. */
export function checkKinds(kinds: readonly EntryKind[]): readonly EntryKind[] {
  const known: readonly string[] = ENTRY_KINDS;
  if (Array.isArray(kinds) && kinds.length > 0 && kinds.every((kind) => known.includes(kind))) return kinds;
  throw invalidArgument(
    "kinds",
    Array.isArray(kinds) ? kinds.join(", ") : kinds,
    `some of ${known.join(", ")}`,
  );
}

/** One immutable record of a session's log. */
export type Entry<Body extends EntryBody = EntryBody> = Body & {
  readonly id: EntryId;
  readonly session: SessionId;
  /** Position in the log: 1, 2, 3… without gaps, given once. */
  readonly seq: number;
  /** Milliseconds since 1970; never smaller than the entry before. */
  readonly at: number;
};

/** The id of an entry. */
export function entryId(session: SessionId, seq: number): EntryId {
  if (typeof session !== "string") throw invalidArgument("session", session, "the id of a session");
  if (typeof seq !== "number") throw invalidArgument("seq", seq, "a whole number of at least 1");
  return `${session}#${seq}`;
}

/** Session and seq of an entry id; throws ARGUMENT_INVALID on anything else. */
export function parseEntryId(id: EntryId): Place {
  if (typeof id !== "string") throw invalidArgument("entry id", id, '"<session>#<seq>"');
  const hash = id.lastIndexOf("#");
  const digits = id.slice(hash + 1);
  if (hash < 1 || !/^[1-9]\d{0,9}$/.test(digits)) throw invalidArgument("entry id", id, '"<session>#<seq>"');
  return { session: id.slice(0, hash), seq: Number(digits) };
}

/** Returns the id if it can name a session, else throws ARGUMENT_INVALID. */
export function checkSessionId(id: SessionId): SessionId {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (typeof id === "string" && id.length >= 1 && id.length <= 256 && !/[\u0000-\u001f\u007f]/.test(id))
    return id;
  throw invalidArgument("session id", id, "1 to 256 characters without control characters");
}
