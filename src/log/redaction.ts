import { dropUndefined } from "../model/base/drop-undefined.ts";
import {
  type Entry,
  type EntryBody,
  type EntryRef,
  formatEntryId,
  getShownMessage,
  ORIGINAL_FORMAT,
  type OverlayBody,
  type Place,
  type SessionId,
} from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import { hasSeq } from "../model/line.ts";
import { flattenParts, type Message } from "../model/message.ts";
import { ADDED_ELEMENTS } from "../model/message-tags.ts";
import { listSingleEdits } from "../model/overlay.ts";
import type { Part, TextPart } from "../model/part.ts";
import { removeElements } from "../model/remove-elements.ts";
import { toEntry } from "./entry-body.ts";
import { Lines } from "./lines.ts";
import type { Log } from "./log.ts";
import type { EntryStore, Tombstone } from "./store/entry-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "./store/freed-counts.ts";
import type { SessionRecord, SessionStore } from "./store/session-store.ts";
import { requirePlaceAtTime } from "./view/place-at-time.ts";

const BATCH = 64;

/** Erases the content of a session's own entries from disk; all or none if one cannot be redacted. */
export async function redactEntries(
  log: Log,
  session: SessionId,
  places: readonly Place[],
  reason: string | undefined,
): Promise<FreedCounts> {
  return replaceEntries(log, session, await buildTombstones(log, session, places, reason));
}

async function replaceEntries(
  log: Log,
  session: SessionId,
  tombstones: readonly Tombstone[],
): Promise<FreedCounts> {
  const freed = await log.store.entries.redact(session, tombstones);
  log.blobs.dropCache();
  return freed;
}

async function buildTombstones(
  log: Log,
  session: SessionId,
  places: readonly Place[],
  reason: string | undefined,
): Promise<readonly Tombstone[]> {
  const tombstones: Tombstone[] = [];
  for (const place of places) {
    const tombstone = await buildTombstone(log, session, place, reason);
    if (tombstone) tombstones.push(tombstone);
  }
  return tombstones;
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
  const hasUnnamed = isSaid && entry.message.parts.some(isUnnamedResult);
  const names = hasUnnamed ? await readCallNames(log, session, place.seq) : new Map();
  const left = isSaid ? eraseMessage(entry.message, names) : undefined;
  const body: EntryBody = { kind: "redacted", was: stored.kind, ...dropUndefined({ reason, left }) };
  return { seq: place.seq, payload: log.encode(body) };
}

const ERASED: TextPart = { type: "text", text: "[removed on request]" };

function isUnnamedResult(part: Part): boolean {
  return part.type === "tool-result" && part.name === undefined;
}

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

/** Replaces a title that quoted removed content: importers and the gateway name a session by its first request. */
const REMOVED_TITLE = "(title removed)";

/**
 * Erases the content of entries from disk, the overlays, titles and copies that may quote it, in forks and children, too,
 * and the files that the session was imported from.
 */
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
  const relatives = await listRelatives(sessions, session);
  const erased = await readErased(entries, places);
  const titles = await readTitles(sessions, relatives);
  const planned: { readonly id: SessionId; readonly tombstones: readonly Tombstone[] }[] = [];
  for (const relative of relatives) {
    const { id, relation } = relative;
    const traces =
      relation === "child"
        ? await findCopies(entries, relative, erased, titles)
        : await findTraces(entries, id, places, erased);
    const own = id === session ? places : [];
    planned.push({ id, tombstones: await buildTombstones(log, id, [...own, ...traces], reason) });
  }
  for (const [id, title] of titles)
    if (erased.texts.some((text) => isQuotingTitle(title, text)) || erased.names.has(title))
      await sessions.update(id, { title: REMOVED_TITLE });
  let freed = NOTHING_FREED;
  // The entries themselves come last: if the process is killed before, a repetition still finds their traces.
  for (const { id, tombstones } of planned.reverse()) {
    freed = addFreed(freed, await replaceEntries(log, id, tombstones));
    const { line } = await new Lines(log, id).active();
    // Entries keep their places, so a new one tells every handle and process to read the log again.
    if (id === session || tombstones.length > 0 || places.some((place) => hasSeq(line, place)))
      await log.append(
        id,
        places.map((target) => ({ body: { kind: "pin", target, isPinned: false, isErased: true } })),
      );
  }
  return freed;
}

type Relative = Pick<SessionRecord, "id" | "relation" | "meta">;

/** A session with its forks and theirs, whose lines may have its entries, and the children of all of them. */
async function listRelatives(sessions: SessionStore, session: SessionId): Promise<readonly Relative[]> {
  const relatives: Relative[] = [{ id: session }];
  for (const { id: parent, relation } of relatives)
    for (let before: SessionId | undefined; relation !== "child"; ) {
      const page = await sessions.list({ parent, limit: BATCH, ...dropUndefined({ before }) });
      relatives.push(...page);
      before = page.at(-1)?.id;
      if (page.length < BATCH) break;
    }
  return relatives;
}

/** The titles of sessions, in the form in which texts are compared. */
async function readTitles(
  sessions: SessionStore,
  among: readonly Relative[],
): Promise<ReadonlyMap<SessionId, string>> {
  const titles = new Map<SessionId, string>();
  for (const { id } of among) {
    const title = collapseSpaces((await sessions.get(id))?.title ?? "");
    if (title !== "") titles.set(id, title);
  }
  return titles;
}

/** Content of entries that are to be erased. */
interface ErasedContent {
  /** The text of each message. */
  readonly texts: readonly string[];
  /** The words of a person, without what an agent adds to them. */
  readonly words: readonly string[];
  /** Ids of the calls whose results are among them: an edit may name a result by its call. */
  readonly results: ReadonlySet<string>;
  /** Titles that models gave to the words. */
  readonly names: Set<string>;
}

async function readErased(entries: EntryStore, places: readonly Place[]): Promise<ErasedContent> {
  const texts: string[] = [];
  const words: string[] = [];
  const results = new Set<string>();
  for (const { session, seq } of places) {
    const stored = await entries.get(session, seq);
    const entry = stored && toEntry(session, stored);
    const message = entry && getShownMessage(entry);
    for (const part of message?.parts ?? []) if (part.type === "tool-result") results.add(part.callId);
    if (entry?.kind !== "message") continue;
    const own = flattenParts(entry.message).map(textOfPart);
    texts.push(collapseSpaces(own.join("\n")));
    if (entry.message.role === "user")
      words.push(...own.map((text) => collapseSpaces(removeElements(text, ADDED_ELEMENTS, " "))));
  }
  return { texts, words: words.filter((text) => text !== ""), results, names: new Set() };
}

/** Shorter words may be part of a text by chance. */
const MIN_REPEATED_CHARACTERS = 12;

/**
 * The messages of a child session that repeat erased words of a person, and the replies that are titles: clients send the
 * words again, among others, to get a title for them. Elsewhere only a message with nothing else is a copy.
 */
async function findCopies(
  entries: EntryStore,
  { id: session, meta }: Relative,
  { words, names }: ErasedContent,
  titles: ReadonlyMap<SessionId, string>,
): Promise<readonly Place[]> {
  const copies: Place[] = [];
  const { kind } = (meta?.gateway ?? {}) as { readonly kind?: unknown };
  const isCopy = (text: string) => (one: string) =>
    text === one || (kind === "title" && one.length >= MIN_REPEATED_CHARACTERS && text.includes(one));
  let isRepeated = false;
  for (let from = 1; words.length > 0; ) {
    const query = { from, to: Number.MAX_SAFE_INTEGER, limit: BATCH, order: "ascending" } as const;
    const found = await entries.read(session, { ...query, kinds: ["message"] });
    for (const stored of found) {
      const entry = toEntry(session, stored);
      if (entry.kind !== "message") continue;
      const { role } = entry.message;
      const text = collapseSpaces(flattenParts(entry.message).map(textOfPart).join("\n"));
      const name =
        isRepeated && role === "assistant" && [...titles.values()].find((one) => text.startsWith(one));
      isRepeated = role === "user" && words.some(isCopy(text));
      if (name) names.add(name);
      if (isRepeated || name) copies.push({ session, seq: entry.seq });
    }
    const last = found.at(-1);
    if (!last || found.length < BATCH) break;
    from = last.seq + 1;
  }
  return copies;
}

/** Overlays of a session with text about one of the entries, which may quote them, and the files it was imported from. */
async function findTraces(
  entries: EntryStore,
  session: SessionId,
  places: readonly Place[],
  { results }: ErasedContent,
): Promise<readonly Place[]> {
  const traces: Place[] = [];
  const { seq: head } = await entries.head(session);
  for (let from = 1; from <= head; ) {
    const query = { from, to: head, limit: BATCH, order: "ascending", kinds: ["overlay", "raw"] } as const;
    const found = await entries.read(session, query);
    for (const stored of found) {
      const entry = toEntry(session, stored);
      const isOriginal = entry.kind === "raw" && entry.format === ORIGINAL_FORMAT;
      // A damaged overlay may quote any of the entries.
      const isTrace =
        entry.kind === "overlay" ? isQuoting(entry, places, results) : stored.kind === "overlay";
      if (isOriginal || isTrace) traces.push({ session, seq: entry.seq });
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

function textOfPart(part: Part): string {
  return part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "";
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
