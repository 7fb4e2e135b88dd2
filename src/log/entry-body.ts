import { type Entry, type EntryBody, type EntryKind, formatEntryId, type SessionId } from "../model/entry.ts";
import { createArgumentError, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import { decodePayload } from "./codec.ts";
import type { StoredEntry } from "./store/entry-store.ts";

/** Serializes a body without its kind, which the store keeps separately. */
export function writeBody(body: EntryBody): string {
  try {
    if (body.kind === "message") return frameMessage(body.message);
    const { kind: _, ...rest } = body;
    return JSON.stringify(rest);
  } catch (error) {
    throw createArgumentError(
      "message",
      String(error),
      "only values that JSON can hold (no BigInt, no cycles)",
    );
  }
}

/** Decodes the body in a payload; throws STORE_CORRUPT if it is damaged. */
export function decodeBody(kind: EntryKind, payload: Uint8Array): EntryBody {
  const text = decodePayload(payload, kind);
  try {
    return kind === "message" ? { kind, message: unframeMessage(text) } : { kind, ...JSON.parse(text) };
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    throw new LonghaulError("STORE_CORRUPT", "The payload is damaged: it is not JSON.", { cause: error });
  }
}

/** Converts a stored entry; its kind is "damaged" if the payload cannot be read. */
export function toEntry(session: SessionId, stored: StoredEntry): Entry {
  return buildEntry(session, stored.seq, stored.at, decodeStoredBody(stored));
}

/** Decodes the body of a stored entry; its kind is "damaged" if the payload cannot be read. */
export function decodeStoredBody({ kind, payload }: Pick<StoredEntry, "kind" | "payload">): EntryBody {
  try {
    return decodeBody(kind, payload);
  } catch (error) {
    if (!isLonghaulError(error, "STORE_CORRUPT")) throw error;
    return { kind: "damaged", ...(kind !== "damaged" && { was: kind }), problem: error.message };
  }
}

/** Builds an entry with the time that people see: a message or a report that an import moved keeps its own. */
export function buildEntry<Body extends EntryBody>(
  session: SessionId,
  seq: number,
  at: number,
  body: Body,
): Entry<Body> {
  // An importer writes the time into a body if the log already has a later one: times in the store never decrease, so
  // that they can be searched.
  const meta = body.kind === "message" ? body.message.meta : body.kind === "usage" ? body.meta : undefined;
  const ownAt = Number.isSafeInteger(meta?.at) ? (meta?.at as number) : at;
  return { id: formatEntryId(session, seq), session, seq, at: Math.min(at, ownAt), ...body };
}

/**
 * Format of a serialized message: its JSON with every longer text replaced by its length, a line break, then those
 * texts in order. Long texts are neither escaped on write nor scanned for escapes on read, which would take longer than
 * all other steps. JSON itself never contains a line break.
 */

/** Shorter texts stay in the JSON. */
const MIN_LIFTED = 32;

/** A part as it appears in the JSON; its text may be replaced by a length. */
type LiftedPart<P> = P extends { readonly text: string } ? Omit<P, "text"> & { text: string | number } : P;

/** Serializes a message. */
export function frameMessage(message: Message): string {
  let texts = "";
  const lift = <P extends Part>(part: P): P | LiftedPart<P> => {
    if ((part.type !== "text" && part.type !== "reasoning") || part.text.length < MIN_LIFTED) return part;
    // An unpaired surrogate has no UTF-8 form; JSON can escape it.
    if (!part.text.isWellFormed()) return part;
    texts += part.text;
    return { ...part, text: part.text.length } as LiftedPart<P>;
  };
  const parts: unknown[] = [];
  for (const part of message.parts)
    parts.push(part.type === "tool-result" ? { ...part, output: part.output.map(lift) } : lift(part));
  return texts === "" ? JSON.stringify(message) : `${JSON.stringify({ ...message, parts })}\n${texts}`;
}

/** Parses a serialized message; throws if it is incomplete. */
export function unframeMessage(framed: string): Message {
  const end = framed.indexOf("\n");
  if (end === -1) return JSON.parse(framed);
  const message: Message = JSON.parse(framed.slice(0, end));
  let at = end + 1;
  const restore = (part: LiftedPart<Part>) => {
    if ((part.type !== "text" && part.type !== "reasoning") || typeof part.text !== "number") return;
    const length: number = part.text;
    part.text = framed.slice(at, at + length);
    at += length;
  };
  for (const part of message.parts) {
    if (part.type === "tool-result") part.output.forEach(restore);
    else restore(part as LiftedPart<Part>);
  }
  if (at === framed.length) return message;
  throw new LonghaulError(
    "STORE_CORRUPT",
    "The payload is damaged: its texts do not have the lengths it names.",
  );
}
