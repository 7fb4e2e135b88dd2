import type { Digest } from "../model/blob.ts";
import type { EntryBody, EntryKind } from "../model/entry.ts";
import type { StoredEntry } from "../store/entry-store.ts";
import { findBodyBlobs } from "./body-blobs.ts";
import { encodePayload } from "./codec.ts";
import { decodeStoredBody, writeBody } from "./entry-body.ts";

/** Rewrites a stored entry with a checksum; an unreadable one becomes kind "damaged". */
export function mendEntry(stored: StoredEntry): {
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
  readonly blobs: readonly Digest[];
} {
  const body: EntryBody = decodeStoredBody(stored);
  return {
    kind: body.kind,
    payload: encodePayload(writeBody(body), body.kind),
    blobs: findBodyBlobs(body),
  };
}
