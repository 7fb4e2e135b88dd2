import assert from "node:assert/strict";
import type { AppendRequest, AppendResult, EntryQuery, NewEntry } from "../../../log/store/entry-store.ts";
import type { Store } from "../../../log/store/store.ts";
import { type ErrorCode, LonghaulError } from "../../../model/errors.ts";

/** A message entry whose payload is the bytes of the text. */
export function buildMessageEntry(text: string, at = 1_000): NewEntry {
  return { kind: "message", at, payload: Buffer.from(text) };
}

/** The text of a payload created by `message`. */
export function readPayloadText({ payload }: { readonly payload: Uint8Array }): string {
  return Buffer.from(payload).toString();
}

export async function makeSession(store: Store, id: string, parent?: string): Promise<void> {
  await store.sessions.open({
    id,
    createdAt: 1,
    ...(parent !== undefined && { parent, relation: "child" as const }),
  });
}

/** Appends entries to a session in one request, which must succeed; a text stands for a message. */
export async function appendEntries(
  store: Store,
  session: string,
  entries: readonly (string | NewEntry)[],
  more: Omit<AppendRequest, "session" | "entries"> = {},
): Promise<AppendResult> {
  const made = entries.map((entry) => (typeof entry === "string" ? buildMessageEntry(entry) : entry));
  const [outcome] = await store.entries.append([{ ...more, session, entries: made }]);
  if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error("no outcome");
  return outcome;
}

/** Appends one request, which must be refused with the code. */
export async function assertRefused(store: Store, request: AppendRequest, code: ErrorCode): Promise<void> {
  const [outcome] = await store.entries.append([request]);
  assert.ok(outcome instanceof LonghaulError, `expected ${code}, got an append`);
  assert.equal(outcome.code, code);
}

/** Asserts a rejection with the code. */
export async function assertRejects(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => error instanceof LonghaulError && error.code === code);
}

/** A query for all entries, with changes. */
export function buildFullQuery(changes: Partial<EntryQuery> = {}): EntryQuery {
  return { from: 1, to: Number.POSITIVE_INFINITY, limit: 1_000, order: "ascending", ...changes };
}

/** Writes a text as a blob. */
export async function writeBlob(store: Store, text: string) {
  return store.blobs.write([Buffer.from(text)], { maxBytes: 1_000_000 });
}

/** Reads a blob as text. */
export async function readBlob(store: Store, digest: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.blobs.read(digest)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
