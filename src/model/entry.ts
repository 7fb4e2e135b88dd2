import { checkFields, checkKind } from "./argument-checks.ts";
import type { BlobRef } from "./blob.ts";
import { createArgumentError, isLonghaulError, LonghaulError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { SeqRange } from "./line.ts";
import { type Message, type MessageInput, ROLES } from "./message.ts";
import type { Edit, EditReason } from "./overlay.ts";
import type { PartInput } from "./part.ts";
import type { Place, SessionId } from "./place.ts";
import type { RequestEnd } from "./request-end.ts";
import type { TaskId, TaskNote } from "./task.ts";
import { checkUsage, type Usage } from "./usage.ts";

export type { Place, SessionId } from "./place.ts";

/** Identifies an entry: `<session id>#<seq>`. Derived, never stored. */
export type EntryId = string;

/** Refers to an entry by seq, by id, or by the exact time of a message on the active line. */
export type EntryRef = number | EntryId | Date;

/** A note for people; never sent to a model. */
export interface NoticeBody {
  readonly kind: "notice";
  readonly text: string;
  /** Set if the note tells why a request ended. */
  readonly requestEnd?: RequestEnd;
}

/** A message of the conversation. */
export interface MessageBody {
  readonly kind: "message";
  readonly message: Message;
}

/**
 * Why entries leave a line: a person took them back, a caller trimmed them to save room, or they are on another branch.
 */
export type LineDeparture = "taken-back" | "trimmed" | "branched";

/** Sets the session's active line to `ranges` followed by everything after this entry. */
export interface LineBody {
  readonly kind: "line";
  /** The whole line up to here, or only its last range if `removed` tells how it differs from the previous line. */
  readonly ranges: readonly SeqRange[];
  /** Entries of the previous line, up to `previousEnd`, that this line lacks. */
  readonly removed?: readonly SeqRange[];
  /** Entries at the place of the first removed one. */
  readonly inserted?: readonly SeqRange[] | undefined;
  readonly reason: string;
  /** Seq of the previously active line entry; 0 for a session's initial line. */
  readonly previous: number;
  /** Last seq of the previously active line, which now ends there. */
  readonly previousEnd: number;
  /** Why entries left the line here; absent: "branched". Recall leaves out entries that were taken back. */
  readonly departure?: Exclude<LineDeparture, "branched">;
}

const DEPARTURES: readonly unknown[] = ["taken-back", "trimmed", "branched"] satisfies LineDeparture[];

/** Returns the departure; throws ARGUMENT_INVALID for anything else. */
export function checkDeparture(departure: LineDeparture): LineDeparture {
  if (DEPARTURES.includes(departure)) return departure;
  throw createArgumentError("departure", departure, '"taken-back", "trimmed" or "branched"');
}

/** The remainder of an entry whose content was removed on request. */
interface RedactedBody {
  readonly kind: "redacted";
  readonly was: EntryKind;
  readonly reason?: string;
  /** The remains of a message, which a window shows so that a call still has its result; absent in old logs. */
  readonly left?: Message;
}

/** The message that an entry stands for: its own, or the remains of an erased one. */
export function getShownMessage(entry: Entry): Message | undefined {
  return entry.kind === "message" ? entry.message : entry.kind === "redacted" ? entry.left : undefined;
}

/** Substitutes an entry whose stored content is damaged and cannot be read. */
export interface DamagedBody {
  readonly kind: "damaged";
  /** The original kind; undefined if it is damaged too. */
  readonly was?: EntryKind;
  readonly problem: string;
}

/** Usage of model calls. One request may have several reports; the last one counts. */
export interface UsageBody {
  readonly kind: "usage";
  readonly usage: Usage;
  readonly model?: string;
  readonly provider?: string;
  /** Id of the reported request. */
  readonly request?: string;
  /** For the caller's use; stored verbatim. */
  readonly meta?: { readonly [key: string]: Json };
}

/** A difference between the log and the window. */
export interface OverlayBody extends EditReason {
  readonly kind: "overlay";
  readonly edit: Edit;
}

/** An uninterpreted record of a foreign tool, kept verbatim; a large one is stored in a blob as JSON. */
export interface RawBody {
  readonly kind: "raw";
  readonly format: string;
  readonly value?: Json;
  readonly blob?: BlobRef;
}

/** The `format` of raw entries with bytes of the files that a conversation was imported from. */
export const ORIGINAL_FORMAT = "original";

/** Pins an entry, which must then stay in the window unchanged, or unpins it. */
export interface PinBody {
  readonly kind: "pin";
  readonly target: Place;
  readonly isPinned: boolean;
  /** True if its content was erased. */
  readonly isErased?: true;
}

/** A state change of a task, or agent output other than messages. */
export interface TaskBody {
  readonly kind: "task";
  readonly task: TaskId;
  readonly note: TaskNote;
}

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

export type EntryKind = EntryBody["kind"];

/** All kinds, for filters. */
const ENTRY_KINDS = [
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
  throw createArgumentError(
    "kinds",
    Array.isArray(kinds) ? kinds.join(", ") : kinds,
    `some of ${known.join(", ")}`,
  );
}

/** One immutable record of a session's log. */
export type Entry<Body extends EntryBody = EntryBody> = Body & {
  readonly id: EntryId;
  readonly session: SessionId;
  /** Position in the log: 1, 2, 3… without gaps, assigned once. */
  readonly seq: number;
  /** Milliseconds since 1970; never smaller than the previous entry's, except for entries that an import found out of order. */
  readonly at: number;
};

export function formatEntryId(session: SessionId, seq: number): EntryId {
  if (typeof session !== "string") throw createArgumentError("session", session, "the id of a session");
  if (typeof seq !== "number") throw createArgumentError("seq", seq, "a whole number of at least 1");
  return `${session}#${seq}`;
}

/** Session and seq of an entry id; throws ARGUMENT_INVALID if it is not one. */
export function parseEntryId(id: EntryId): Place {
  if (typeof id !== "string") throw createArgumentError("entry id", id, '"<session>#<seq>"');
  const hash = id.lastIndexOf("#");
  const digits = id.slice(hash + 1);
  if (hash < 1 || !/^[1-9]\d{0,9}$/.test(digits))
    throw createArgumentError("entry id", id, '"<session>#<seq>"');
  return { session: id.slice(0, hash), seq: Number(digits) };
}

/** The place that the id of an entry names; undefined if it is none. */
export function readEntryId(id: string): Place | undefined {
  try {
    return parseEntryId(id);
  } catch (error) {
    if (isLonghaulError(error, "ARGUMENT_INVALID")) return undefined;
    throw error;
  }
}

/** Returns the id if it is a valid session id, else throws ARGUMENT_INVALID. */
export function checkSessionId(id: SessionId): SessionId {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check refuses control characters
  if (typeof id === "string" && id.length >= 1 && id.length <= 256 && !/[\u0000-\u001f\u007f]/.test(id))
    return id;
  throw createArgumentError("session id", id, "1 to 256 characters without control characters");
}

/** Returns the validated parts of an input message; throws ARGUMENT_INVALID naming the invalid field. */
export function checkMessageParts(input: MessageInput): readonly PartInput[] {
  if (input === null || typeof input !== "object") {
    throw createArgumentError("message", input, "an object with role and text or parts");
  }
  if (!ROLES.includes(input.role))
    throw createArgumentError("message.role", input.role, `one of ${ROLES.join(", ")}`);
  if (input.text !== undefined) {
    checkString("message.text", input.text);
    if (input.parts === undefined) return [{ type: "text", text: input.text }];
    throw createArgumentError("message.parts", input.parts, "nothing, because message.text is given");
  }
  if ("content" in input) {
    const message = "message.content is not a field of a message; did you mean message.text?";
    throw new LonghaulError("ARGUMENT_INVALID", message, { details: { option: "message.content" } });
  }
  if (!Array.isArray(input.parts)) {
    throw createArgumentError("message.parts", input.parts, "an array of parts, or give message.text");
  }
  for (let index = 0; index < input.parts.length; index++)
    checkPart(input.parts[index], "message.parts", index);
  return input.parts;
}

/** Builds the path of a part only on errors, because this runs on every append. */
function checkPart(part: PartInput, list: string, index: number): void {
  const path = () => `${list}[${index}]`;
  if (part === null || typeof part !== "object") throw createArgumentError(path(), part, "a part object");
  switch (part.type) {
    case "text":
    case "reasoning":
      if (typeof part.text !== "string") checkString(`${path()}.text`, part.text);
      break;
    case "tool-call":
      if (typeof part.name !== "string") checkString(`${path()}.name`, part.name);
      if (typeof part.callId !== "string") checkString(`${path()}.callId`, part.callId);
      if (part.input === undefined) throw createArgumentError(`${path()}.input`, part.input, "a JSON value");
      break;
    case "tool-result":
      if (typeof part.callId !== "string") checkString(`${path()}.callId`, part.callId);
      if (typeof part.output !== "string") checkOutput(part.output, `${path()}.output`);
      break;
    case "blob":
      if (typeof part.digest !== "string") checkString(`${path()}.digest`, part.digest);
      break;
    case "raw":
      if (typeof part.format !== "string") checkString(`${path()}.format`, part.format);
      break;
    case "data":
      if (part.data == null)
        throw createArgumentError(`${path()}.data`, part.data, "base64, bytes or a stream");
      break;
    default:
      throw createArgumentError(
        `${path()}.type`,
        (part as { type?: unknown }).type,
        "text, reasoning, tool-call, tool-result, blob, data or raw",
      );
  }
}

function checkOutput(output: readonly PartInput[], list: string): void {
  if (!Array.isArray(output)) throw createArgumentError(list, output, "a string or an array of parts");
  for (const [index, part] of output.entries()) {
    checkPart(part, list, index);
    if (part.type === "text" || part.type === "blob" || part.type === "data" || part.type === "raw") continue;
    throw createArgumentError(`${list}[${index}].type`, part.type, "text, blob, data or raw");
  }
}

function checkString(option: string, value: unknown): void {
  if (typeof value !== "string") throw createArgumentError(option, value, "a string");
}

/** Returns `body` if it is a usage report that the log can hold, else throws ARGUMENT_INVALID. */
export function checkUsageBody(body: UsageBody): UsageBody {
  checkKind("usage", body, "json");
  if (body.kind !== "usage") throw createArgumentError("usage.kind", body.kind, '"usage"');
  checkUsage(body.usage, "usage.usage");
  return checkFields("usage", body, {
    model: "text?",
    provider: "text?",
    request: "text?",
    meta: "object?",
  });
}
