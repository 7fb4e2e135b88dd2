import { type Entry, type EntryBody, type EntryKind, formatEntryId, type SessionId } from "../model/entry.ts";
import { createArgumentError, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { StoredEntry } from "../store/entry-store.ts";
import { decodePayload } from "./codec.ts";
import { frameMessage, unframeMessage } from "./frame.ts";

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
  return {
    id: formatEntryId(session, seq),
    session,
    seq,
    at: Math.min(at, findOwnTime(body) ?? at),
    ...body,
  };
}

/**
 * The time that an importer wrote into a body because the log already had a later one: times in the store never
 * decrease, so that they can be searched.
 */
function findOwnTime(body: EntryBody): number | undefined {
  const meta = body.kind === "message" ? body.message.meta : body.kind === "usage" ? body.meta : undefined;
  return Number.isSafeInteger(meta?.at) ? (meta?.at as number) : undefined;
}
