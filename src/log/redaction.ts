import { randomUUID } from "node:crypto";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import {
  type Entry,
  type EntryBody,
  type EntryRef,
  formatEntryId,
  type MessageBody,
  type Place,
  type SessionId,
} from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import { hasSeq } from "../model/line.ts";
import { flattenParts, type Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import { toEntry } from "./entry-body.ts";
import { ERASED, REMOVED_TITLE } from "./erasing/erased-words.ts";
import { type ErasurePlan, type FindQuotes, type PlannedEntry, planErasure } from "./erasing/plan-erasure.ts";
import { Lines } from "./lines.ts";
import type { Log } from "./log.ts";
import type { Tombstone } from "./store/entry-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "./store/freed-counts.ts";
import { listLedger } from "./store/ledger-store.ts";
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
  places: readonly (Place & Partial<PlannedEntry>)[],
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
  place: Place & Partial<PlannedEntry>,
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
  const rest = place.cause === "quote" && isSaid ? await readRest(log, entry) : undefined;
  const left = rest ?? (isSaid ? eraseMessage(entry.message, names) : undefined);
  const body: EntryBody = { kind: "redacted", was: stored.kind, ...dropUndefined({ reason, left }) };
  return { seq: place.seq, payload: log.encode(body) };
}

/** A message that quotes erased words, without these; undefined if the words were not remembered. */
async function readRest(log: Log, { session, message }: Entry<MessageBody>): Promise<Message | undefined> {
  await log.erased.prepare();
  const [screened] = log.erased.screen(session, [{ body: { kind: "message", message } }], true);
  const rest = screened?.body.message;
  const hasBlobs = rest && flattenParts(rest).some(({ type }) => type === "blob");
  return rest === message || hasBlobs ? undefined : rest;
}

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

/** Begins the id of the record of an erasure of entries that is under way. */
const JOURNAL_PREFIX = "entries ";

/** Lists what `redactWithTraces` would remove. */
export async function previewErasure(
  log: Log,
  session: SessionId,
  lines: Lines,
  which: readonly EntryRef[],
  findQuotes?: FindQuotes,
): Promise<ErasurePlan> {
  const places = await resolvePlaces(log, lines, which);
  return (await planErasure(log, session, places, { findQuotes })).plan;
}

/**
 * Erases the content of entries from disk, the overlays, titles and copies that may quote it, in forks and children, too,
 * and the files that the session was imported from. The plan is recorded first: after a crash, the next process that
 * opens the store completes it.
 */
export async function redactWithTraces(
  log: Log,
  session: SessionId,
  lines: Lines,
  which: readonly EntryRef[],
  options: { readonly reason?: string | undefined; readonly findQuotes?: FindQuotes } = {},
): Promise<FreedCounts> {
  const places = await resolvePlaces(log, lines, which);
  const { plan, words } = await planErasure(log, session, places, options);
  // Checks every entry before the first write.
  await buildTombstones(log, session, plan.places, options.reason);
  await log.erased.remember(session, words);
  const row = { id: `${JOURNAL_PREFIX}${randomUUID()}`, value: JSON.stringify(plan) };
  await log.store.ledger.put("erasure", [row]);
  const freed = await carryOut(log, plan);
  await log.store.ledger.remove("erasure", [row.id]);
  return freed;
}

/** Completes erasures of entries whose process died. */
export async function resumeErasures(log: Log): Promise<void> {
  for await (const { id: row, value } of listLedger(log.store.ledger, "erasure")) {
    if (!row.startsWith(JOURNAL_PREFIX)) continue;
    await carryOut(log, JSON.parse(value) as ErasurePlan);
    await log.store.ledger.remove("erasure", [row]);
  }
}

/** Kinds of entries that may hold words. */
const WORDED = ["message", "overlay", "notice", "raw"] as const;

/** Erases whatever repeats words that were erased before, as in a store from a backup. Returns the number of entries. */
export async function eraseAgain(log: Log): Promise<number> {
  await log.erased.prepare();
  if (log.erased.isEmpty) return 0;
  let count = 0;
  const { entries, sessions } = log.store;
  for (let after = 0; ; ) {
    const heads = await entries.heads({ after, limit: BATCH });
    for (const { session, seq: head } of heads) {
      const { title } = (await sessions.get(session)) ?? {};
      if (title !== undefined && (await log.erased.screenTitle(session, title)) !== title)
        await sessions.update(session, { title: REMOVED_TITLE });
      for (let from = 1; from <= head; ) {
        const query = { from, to: head, limit: BATCH, order: "ascending", kinds: WORDED } as const;
        const page = await entries.read(session, query);
        const repeating = page.flatMap((stored): PlannedEntry[] => {
          const entry = toEntry(session, stored);
          const [screened] = log.erased.screen(session, [{ body: entry as EntryBody }], true);
          return screened?.body === entry ? [] : [{ session, seq: stored.seq, cause: "quote" }];
        });
        if (repeating.length > 0)
          await replaceEntries(log, session, await buildTombstones(log, session, repeating, "erased before"));
        count += repeating.length;
        from = page.length < BATCH ? head + 1 : (page.at(-1)?.seq ?? head) + 1;
      }
    }
    after = heads.at(-1)?.place ?? after;
    if (heads.length < BATCH) return count;
  }
}

async function resolvePlaces(log: Log, lines: Lines, which: readonly EntryRef[]): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (const one of which)
    places.push(
      one instanceof Date
        ? await requirePlaceAtTime(lines, log.store.entries, one)
        : await lines.resolvePlace(one),
    );
  return places;
}

/** Removes the content that a plan lists, as far as it is still there. */
async function carryOut(
  log: Log,
  { places, entries, titles, session, reason }: ErasurePlan,
): Promise<FreedCounts> {
  const { sessions } = log.store;
  for (const id of titles) if (await sessions.get(id)) await sessions.update(id, { title: REMOVED_TITLE });
  const bySession = Map.groupBy(entries, (entry) => entry.session);
  for (const { session: own } of places) if (!bySession.has(own)) bySession.set(own, []);
  for (const id of await listForks(log, session)) if (!bySession.has(id)) bySession.set(id, []);
  let freed = NOTHING_FREED;
  for (const [id, own] of bySession) {
    if (!(await sessions.get(id))) continue;
    const tombstones = await buildTombstones(log, id, own, reason);
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

/** The sessions whose lines may have entries of a session: its forks, and theirs. */
async function listForks({ store }: Log, session: SessionId): Promise<readonly SessionId[]> {
  const forks: SessionId[] = [session];
  for (const parent of forks)
    for (let before: SessionId | undefined; ; ) {
      const page = await store.sessions.list({ parent, limit: BATCH, ...dropUndefined({ before }) });
      forks.push(...page.filter(({ relation }) => relation !== "child").map(({ id }) => id));
      before = page.at(-1)?.id;
      if (page.length < BATCH) break;
    }
  return forks;
}
