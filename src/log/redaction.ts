import { dropUndefined } from "../model/base/drop-undefined.ts";
import {
  type Entry,
  type EntryBody,
  type EntryRef,
  formatEntryId,
  getShownMessage,
  type OverlayBody,
  type Place,
  type SessionId,
} from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import { hasSeq } from "../model/line.ts";
import { flattenParts, type Message } from "../model/message.ts";
import { listSingleEdits } from "../model/overlay.ts";
import type { Part, TextPart } from "../model/part.ts";
import { toEntry } from "./entry-body.ts";
import { Lines } from "./lines.ts";
import type { Log } from "./log.ts";
import type { EntryStore, Tombstone } from "./store/entry-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "./store/freed-counts.ts";
import type { SessionStore } from "./store/session-store.ts";
import type { Store } from "./store/store.ts";
import { requirePlaceAtTime } from "./view/place-at-time.ts";

const BATCH = 64;

/** Erases the content of a session's own entries from disk; all or none if one cannot be redacted. */
export async function redactEntries(
  log: Log,
  session: SessionId,
  places: readonly Place[],
  reason: string | undefined,
): Promise<FreedCounts> {
  const tombstones: Tombstone[] = [];
  for (const place of places) {
    const tombstone = await buildTombstone(log, session, place, reason);
    if (tombstone) tombstones.push(tombstone);
  }
  const freed = await log.store.entries.redact(session, tombstones);
  log.blobs.dropCache();
  return freed;
}

async function buildTombstone(
  log: Log,
  session: SessionId,
  place: Place,
  reason: string | undefined,
): Promise<Tombstone | undefined> {
  const id = formatEntryId(place.session, place.seq);
  if (place.session !== session) {
    throw createArgumentError("entry", id, `an entry of ${session} itself; redact it in its own session`);
  }
  const stored = await log.store.entries.get(session, place.seq);
  if (!stored)
    throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${id} to redact.`, { details: { id } });
  if (stored.kind === "line")
    throw createArgumentError("entry", id, "a message or notice; lines hold no content");
  if (stored.kind === "redacted") return undefined;
  const entry = toEntry(session, stored);
  const isSaid = entry.kind === "message" && entry.message.meta?.longhaul === undefined;
  const names = isSaid ? await readCallNames(log, session, place.seq) : new Map();
  const left = isSaid ? eraseMessage(entry.message, names) : undefined;
  const body: EntryBody = { kind: "redacted", was: stored.kind, ...dropUndefined({ reason, left }) };
  return { seq: place.seq, payload: log.encode(body) };
}

const ERASED: TextPart = { type: "text", text: "[removed on request]" };

/** The tools of the calls shortly before an entry; results may not say which tool they come from. */
async function readCallNames(
  { store }: Log,
  session: SessionId,
  before: number,
): Promise<ReadonlyMap<string, string>> {
  const query = { from: 1, to: before - 1, limit: BATCH, order: "descending", kinds: ["message"] } as const;
  const entries = (await store.entries.read(session, query)).map((stored) => toEntry(session, stored));
  const parts = entries.flatMap((entry) => (entry.kind === "message" ? entry.message.parts : []));
  return new Map(parts.flatMap((part) => (part.type === "tool-call" ? [[part.callId, part.name]] : [])));
}

/** A message without its content: its role, and the ids and names of its calls and results. */
function eraseMessage({ role, parts }: Message, names: ReadonlyMap<string, string>): Message {
  const left = parts.flatMap((part): Part[] => {
    if (part.type === "tool-result")
      return [{ ...part, ...dropUndefined({ name: part.name ?? names.get(part.callId) }), output: [ERASED] }];
    if (part.type === "tool-call") return [{ ...part, input: {} }];
    if (part.type !== "blob" || part.callId === undefined) return [];
    return [{ type: "tool-call", callId: part.callId, name: part.toolName ?? "tool", input: {} }];
  });
  const hasResult = left.some(({ type }) => type === "tool-result");
  return { role, parts: hasResult ? left : [ERASED, ...left] };
}

/** Replaces a title that quoted removed content. */
const REMOVED_TITLE = "(title removed)";

/** Erases the content of entries from disk, and the overlays and titles that may quote it, those of forks included. */
export async function redactWithTraces(
  log: Log,
  session: SessionId,
  lines: Lines,
  which: readonly EntryRef[],
  reason: string | undefined,
): Promise<FreedCounts> {
  const places: Place[] = [];
  for (const one of which)
    places.push(
      one instanceof Date
        ? await requirePlaceAtTime(lines, log.store.entries, one)
        : await lines.resolvePlace(one),
    );
  const { entries, sessions } = log.store;
  const family = await listFamily(sessions, session);
  const titled = await findQuotingTitles(log.store, places, family);
  const results = await readResultIds(entries, places);
  let freed = NOTHING_FREED;
  for (const id of family) {
    const own = id === session ? places : [];
    const traces = await findTraces(entries, id, places, results);
    freed = addFreed(freed, await redactEntries(log, id, [...own, ...traces], reason));
    const { line } = await new Lines(log, id).active();
    // Entries keep their places, so a new one tells every handle and process to read the log again.
    if (id === session || traces.length > 0 || places.some((place) => hasSeq(line, place)))
      await log.append(
        id,
        places.map((target) => ({ body: { kind: "pin", target, isPinned: false } })),
      );
  }
  for (const id of titled) await sessions.update(id, { title: REMOVED_TITLE });
  return freed;
}

/** A session, its forks and theirs: their lines may have its entries. */
async function listFamily(sessions: SessionStore, session: SessionId): Promise<readonly SessionId[]> {
  const family = [session];
  for (const parent of family)
    for (let before: SessionId | undefined; ; ) {
      const page = await sessions.list({ parent, limit: BATCH, ...dropUndefined({ before }) });
      family.push(...page.flatMap(({ id, relation }) => (relation === "fork" ? [id] : [])));
      before = page.at(-1)?.id;
      if (page.length < BATCH) break;
    }
  return family;
}

/** Ids of the calls whose results are in the entries: an edit may name a result by its call. */
async function readResultIds(entries: EntryStore, places: readonly Place[]): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { session, seq } of places) {
    const stored = await entries.get(session, seq);
    const message = stored && getShownMessage(toEntry(session, stored));
    for (const part of message?.parts ?? []) if (part.type === "tool-result") ids.add(part.callId);
  }
  return ids;
}

/** Overlays of a session that refer to one of the entries and contain text, which may quote them. */
async function findTraces(
  entries: EntryStore,
  session: SessionId,
  places: readonly Place[],
  results: ReadonlySet<string>,
): Promise<readonly Place[]> {
  const traces: Place[] = [];
  const { seq: head } = await entries.head(session);
  for (let from = 1; from <= head; ) {
    const query = { from, to: head, limit: BATCH, order: "ascending", kinds: ["overlay"] } as const;
    const found = await entries.read(session, query);
    for (const stored of found) {
      const entry = toEntry(session, stored);
      // A damaged overlay may quote any of the entries.
      if (entry.kind !== "overlay" || isQuoting(entry, places, results))
        traces.push({ session, seq: entry.seq });
    }
    const last = found.at(-1);
    if (!last || found.length < BATCH) break;
    from = last.seq + 1;
  }
  return traces;
}

function isQuoting(
  overlay: Entry<OverlayBody>,
  places: readonly Place[],
  results: ReadonlySet<string>,
): boolean {
  return hasText(overlay) && places.some((place) => isAbout(overlay, place, results));
}

/** Whether an overlay contains text; receipts do, because they name removed content. */
function hasText({ edit, receipt }: Entry<OverlayBody>): boolean {
  return receipt !== undefined || listSingleEdits(edit).some(({ type }) => type !== "hide");
}

function isAbout({ edit, session }: Entry<OverlayBody>, place: Place, results: ReadonlySet<string>): boolean {
  return listSingleEdits(edit).some((single) => {
    if (single.type !== "replace") {
      const quotes = single.type === "summarize" ? (single.quotes ?? []) : [];
      return (
        quotes.some(({ session: own, seq }) => own === place.session && seq === place.seq) ||
        single.ranges.some(
          (range) => range.session === place.session && range.from <= place.seq && place.seq <= range.to,
        )
      );
    }
    if ("callId" in single.target) return results.has(single.target.callId);
    const { seq, session: own = session } = single.target;
    return own === place.session && seq === place.seq;
  });
}

/** Those sessions whose title has only words of one of the entries: importers and the gateway name one by its first request. */
async function findQuotingTitles(
  { sessions, entries }: Store,
  places: readonly Place[],
  among: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const texts: string[] = [];
  for (const { session, seq } of places) {
    const stored = await entries.get(session, seq);
    const entry = stored && toEntry(session, stored);
    if (entry?.kind !== "message") continue;
    const parts = flattenParts(entry.message).map((part) =>
      part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "",
    );
    texts.push(collapseSpaces(parts.join("\n")));
  }
  const quoting: SessionId[] = [];
  for (const id of among) {
    const title = collapseSpaces((await sessions.get(id))?.title ?? "");
    if (title !== "" && texts.some((text) => isQuotingTitle(title, text))) quoting.push(id);
  }
  return quoting;
}

/** True if a text has the title, cut off at its end or not, or all of its whole words. */
function isQuotingTitle(title: string, text: string): boolean {
  if (text.includes(title.replace(/…$/, ""))) return true;
  const words = listWords(title.replace(/[\p{L}\p{N}]*…$/u, ""));
  const own = new Set(listWords(text));
  return words.length > 0 && words.every((word) => own.has(word));
}

function listWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function collapseSpaces(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
