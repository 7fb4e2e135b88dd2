import { type Entry, type EntryBody, type EntryKind, entryId, type SessionId } from "../model/entry.ts";
import { invalidArgument, LonghaulError } from "../model/errors.ts";
import type { StoredEntry } from "../store/entry-store.ts";
import { decodePayload } from "./codec.ts";
import { frameMessage, unframeMessage } from "./frame.ts";

/** A body written down as payloads hold it: without its kind, which the store keeps beside it. */
export function writeBody(body: EntryBody): string {
  try {
    if (body.kind === "message") return frameMessage(body.message);
    const { kind: _, ...rest } = body;
    return JSON.stringify(rest);
  } catch (error) {
    throw invalidArgument("message", String(error), "only values that JSON can hold (no BigInt, no cycles)");
  }
}

/** The body in a payload. */
export function decodeBody(kind: EntryKind, payload: Uint8Array): EntryBody {
  const text = decodePayload(payload);
  try {
    return kind === "message" ? { kind, message: unframeMessage(text) } : { kind, ...JSON.parse(text) };
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    throw new LonghaulError(
      "STORE_CORRUPT",
      "An entry's payload is not JSON; restore the store from a backup. Other entries can still be read.",
      { cause: error },
    );
  }
}

/** The entry that a stored one stands for. */
export function toEntry(session: SessionId, stored: StoredEntry): Entry {
  return makeEntry(session, stored.seq, stored.at, decodeBody(stored.kind, stored.payload));
}

/** Puts an entry together. */
export function makeEntry<Body extends EntryBody>(
  session: SessionId,
  seq: number,
  at: number,
  body: Body,
): Entry<Body> {
  return { id: entryId(session, seq), session, seq, at, ...body };
}
