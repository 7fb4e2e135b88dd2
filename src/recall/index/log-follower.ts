import { setImmediate } from "node:timers/promises";
import { Bulkhead, isOfItem } from "../../log/bulkhead.ts";
import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import type { SessionHead, StoredEntry } from "../../log/store/entry-store.ts";
import type { MemoryStore, NewChunk, SourceRecord } from "../../log/store/memory-store.ts";
import type { Store } from "../../log/store/store.ts";
import { waitAtMost } from "../../model/base/time-limit.ts";
import { type Entry, formatEntryId, readEntryId, type SessionId } from "../../model/entry.ts";
import { isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import { type EntryText, INDEXED_KINDS, readEntryTexts } from "./entry-texts.ts";
import { SessionPlan } from "./session-plan.ts";
import { SessionSpeakers } from "./session-speakers.ts";
import { buildTurnChunks } from "./turn-chunks.ts";

type IndexedSession = Pick<SourceRecord, "cursor" | "version">;

const PAGE_SOURCES = 1_000;

const MAX_ERASURES = 1_000;

/** Entries read, and chunks written, per batch. */
const ENTRIES_PER_BATCH = 64;

const CHUNKS_PER_BATCH = 1_024;

const HEADS_PER_PAGE = 1_000;

/** Maximum number of sessions whose last indexed seq is cached: two numbers each. */
const MAX_REMEMBERED = 100_000;

/** Maximum time for counting missing entries. */
const MAX_COUNT_MS = 100;

/** Failures to write the index, which can still be read. */
const UNWRITABLE = ["ABORTED", "DISK_FULL", "STORE_BUSY", "STORE_IO", "STORE_READ_ONLY"] as const;

/** Context for reading the entries of a session. */
interface SessionReading {
  readonly plan: SessionPlan;
  /** Entries per batch. */
  readonly atOnce: number;
  readonly nameSpeaker: (entry: Entry, texts: readonly EntryText[]) => ReturnType<SessionSpeakers["name"]>;
}

/** Progress of a catch-up. */
interface FollowProgress {
  readonly session: SessionId;
  readonly entries: number;
  readonly chunks: number;
  /** Entries of the log that the last batch covered, indexed or not. */
  readonly covered: number;
}

export interface FollowOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FollowProgress) => void;
}

/**
 * Brings the index up to the end of all logs. It can be interrupted at any point and continues from there. Several
 * processes may run it at once; each skips the work that others have done.
 */
export class LogFollower {
  readonly #log: Log;
  /** The last indexed seq by the session's place number; session names as keys would take ten times as much memory. */
  readonly #cursors = new Map<number, number>();
  #seenVersion: string | undefined;
  #hasSwept = false;
  #stamp = -1;
  #running: Promise<void> | undefined;
  /** The next background run, shared by all callers until it begins. */
  #next: Promise<boolean> | undefined;
  readonly #closing = new AbortController();
  readonly #bulkhead: Bulkhead;

  constructor(log: Log) {
    this.#log = log;
    this.#bulkhead = new Bulkhead(log.store, log.clock, "index");
  }

  /**
   * Indexes for at most `waitMs` and continues in the background; returns the minimum number of entries still missing.
   * An index that cannot be written counts as one that takes too long.
   */
  async catchUpWithin(waitMs: number, signal?: AbortSignal): Promise<number> {
    const isWhole = await waitAtMost(waitMs, this.#catchUpInBackground(), signal);
    throwIfAborted(signal);
    return isWhole ? 0 : this.countMissing(MAX_COUNT_MS);
  }

  /** Stops background work. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#next?.catch(() => undefined);
    await this.#running?.catch(() => undefined);
  }

  /** Resolves to false if the index could not be brought up to date. */
  #catchUpInBackground(): Promise<boolean> {
    if (this.#next) return this.#next;
    const next = (async () => {
      await undefined;
      while (this.#running) await this.#running.catch(() => undefined);
      // Later callers may have committed entries that this run does not see.
      this.#next = undefined;
      try {
        await this.catchUp({ signal: this.#closing.signal });
        return true;
      } catch (error) {
        if (!UNWRITABLE.some((code) => isLonghaulError(error, code))) throw error;
        return false;
      }
    })();
    // The caller may no longer wait for the result.
    next.catch(() => undefined);
    this.#next = next;
    return next;
  }

  /** Counts the entries that are not indexed; after `maxMs` it returns the number so far, at least 1. */
  async countMissing(maxMs?: number): Promise<number> {
    return (await this.countEntries(maxMs)).missing;
  }

  /** Counts all entries, and those that are not indexed; stops after `maxMs`, then at least one is missing. */
  async countEntries(
    maxMs = Number.POSITIVE_INFINITY,
  ): Promise<{ readonly all: number; readonly missing: number }> {
    const { entries, memory } = this.#log.store;
    const deadline = performance.now() + maxMs;
    let all = 0;
    let missing = 0;
    for (let after = 0; ; ) {
      const heads = await entries.heads({ after, limit: HEADS_PER_PAGE });
      for (const { session, seq, place } of heads) {
        if (performance.now() > deadline) return { all, missing: Math.max(1, missing) };
        const cursor =
          this.#cursors.get(place) ?? (await memory.source({ kind: "session", name: session }))?.cursor ?? 0;
        all += seq;
        missing += Math.max(0, seq - cursor);
      }
      if (heads.length < HEADS_PER_PAGE) return { all, missing };
      after = heads.at(-1)?.place ?? after;
    }
  }

  /** Indexes everything committed; returns at once if nothing is new. */
  async catchUp(options: FollowOptions = {}): Promise<void> {
    // One at a time: a later call may follow commits that the running one does not see.
    while (this.#running) await this.#running.catch(() => undefined);
    const running = this.#follow(options).finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** Indexes the committed entries of one session only; does not wait for another catch-up. */
  async catchUpSession(session: SessionId, options: FollowOptions = {}): Promise<void> {
    const { createdAt } = (await this.#log.store.sessions.get(session)) ?? {};
    if (createdAt === undefined) return;
    const { seq } = await this.#log.store.entries.head(session);
    await this.#followSession({ session, createdAt, seq }, options);
  }

  async #follow(options: FollowOptions): Promise<void> {
    const { store } = this.#log;
    const version = await store.entries.version();
    if (version === this.#seenVersion) return;
    await settleErasures(store);
    const { stamp } = await store.memory.state();
    if (stamp !== this.#stamp) this.#cursors.clear();
    this.#stamp = stamp;
    if (!this.#hasSwept) await this.#bulkhead.retryOutdated((item) => this.#forgetSessionOf(item));
    const living = this.#hasSwept ? undefined : new Set<SessionId>();
    // One list is read faster than a row for each session.
    const indexed = living && (await listIndexedSessions(store.memory, options.signal));
    for (let after = 0; ; ) {
      const heads = await store.entries.heads({ after, limit: HEADS_PER_PAGE });
      for (const head of heads) {
        throwIfAborted(options.signal);
        living?.add(head.session);
        if ((this.#cursors.get(head.place) ?? -1) >= head.seq) continue;
        const known = indexed?.get(head.session);
        const isDone = known?.cursor === head.seq && known.version === String(head.createdAt);
        // A session that fails as a whole is tried again when it has grown.
        const follow = () => this.#bulkhead.run(head.session, () => this.#followSession(head, options));
        if (isDone || (await follow()) !== false) this.#remember(head);
      }
      if (heads.length < HEADS_PER_PAGE) break;
      after = heads.at(-1)?.place ?? after;
    }
    if (living && indexed) await forgetGoneSessions(store, indexed.keys(), living, options.signal);
    while (await store.memory.seal()) throwIfAborted(options.signal);
    this.#hasSwept = true;
    this.#seenVersion = version;
  }

  /** Lets a session be indexed again that an earlier version left out, or an entry of it. */
  async #forgetSessionOf(item: string): Promise<void> {
    for (const name of [item, readEntryId(item)?.session])
      if (name !== undefined) await this.#log.store.memory.forget({ kind: "session", name });
  }

  #remember({ place, seq }: SessionHead): void {
    if (this.#cursors.has(place) || this.#cursors.size < MAX_REMEMBERED) this.#cursors.set(place, seq);
  }

  /** Indexes a session up to its end; false if it was deleted and created again meanwhile. */
  async #followSession(
    { session, createdAt, seq: head }: Omit<SessionHead, "place">,
    options: FollowOptions,
  ): Promise<boolean> {
    const { memory } = this.#log.store;
    const version = String(createdAt);
    const name = { kind: "session", name: session } as const;
    let source = await memory.source(name);
    if (source?.version === version && source.cursor === head) return true;
    const speakers = await SessionSpeakers.read(this.#log.store.entries, session);
    const isTranscript = speakers.isTranscriptUpTo(head);
    // The first turns of a session may show only later that their texts begin with names.
    const isOther = source && speakers.isTranscriptUpTo(source.cursor) !== isTranscript;
    if (source && (isOther || source.version !== version || source.cursor > head)) {
      await memory.forget(name);
      source = undefined;
    }
    let cursor = source?.cursor;
    let turn = source?.turns ?? 0;
    let entries = 0;
    const plan = new SessionPlan(this.#log.store.entries, session, cursor ?? 0);
    const nameSpeaker = (entry: Entry, texts: readonly EntryText[]) =>
      speakers.name(entry, texts, isTranscript);
    let atOnce = ENTRIES_PER_BATCH;
    while ((cursor ?? 0) < head) {
      throwIfAborted(options.signal);
      const { stamp } = await memory.state();
      const batch = await this.#readBatch(session, cursor ?? 0, head, turn, { plan, nameSpeaker, atOnce });
      const state = { ...name, version, cursor: batch.cursor };
      let isAdded: boolean;
      try {
        isAdded = await memory.add({ source: state, expected: cursor, stamp, chunks: batch.chunks });
      } catch (error) {
        if (!isOfItem(error)) throw error;
        if (atOnce > 1) {
          // One of the entries has a value that the index cannot hold: each by itself shows which.
          atOnce = 1;
          continue;
        }
        await this.#bulkhead.note(formatEntryId(session, batch.cursor), error);
        isAdded = await memory.add({ source: state, expected: cursor, stamp, chunks: [] });
      }
      if (!isAdded) {
        const now: SourceRecord | undefined = await memory.source(name);
        // Created again under the same name meanwhile: left to the next catch-up.
        if (now && now.version !== version) return false;
        [cursor, turn] = [now?.cursor, now?.turns ?? 0];
        continue;
      }
      const covered = batch.cursor - (cursor ?? 0);
      [cursor, turn] = [batch.cursor, batch.turn];
      entries += batch.entries;
      options.onProgress?.({ session, entries, chunks: batch.chunks.length, covered });
      await setImmediate();
    }
    return true;
  }

  async #readBatch(
    session: SessionId,
    after: number,
    head: number,
    lastTurn: number,
    reading: SessionReading,
  ) {
    const { store, blobs } = this.#log;
    const to = Math.min(head, after + ENTRIES_PER_BATCH * 8);
    const kinds = INDEXED_KINDS;
    const limit = reading.atOnce;
    const stored = await store.entries.read(session, {
      from: after + 1,
      to,
      limit,
      order: "ascending",
      kinds,
    });
    const chunks: NewChunk[] = [];
    let turn = lastTurn;
    let entries = 0;
    for (const one of stored) {
      if (chunks.length >= CHUNKS_PER_BATCH) break;
      entries++;
      const made = await this.#buildChunks(session, one, turn + 1, reading, (part) => blobs.restore(part));
      if (made.length > 0) turn++;
      for (const one of made) chunks.push(one);
    }
    const isWhole = entries === stored.length && stored.length < limit;
    const cursor = isWhole ? to : (stored[entries - 1]?.seq ?? to);
    return { chunks, turn, cursor, entries };
  }

  async #buildChunks(
    session: SessionId,
    stored: StoredEntry,
    turn: number,
    { plan, nameSpeaker }: SessionReading,
    restore: Parameters<typeof readEntryTexts>[1],
  ): Promise<NewChunk[]> {
    const build = async (): Promise<NewChunk[]> => {
      const entry = toEntry(session, stored);
      if (entry.kind === "message") plan.note(entry.message);
      const { texts, speaker } = nameSpeaker(entry, await readEntryTexts(entry, restore));
      return buildTurnChunks({
        seq: entry.seq,
        turn,
        at: entry.at,
        texts: await plan.resolve(texts),
        ...(speaker !== undefined && { speaker }),
      });
    };
    // An entry that cannot be read must not prevent later ones, and those of others, from being indexed.
    return (await this.#bulkhead.run(formatEntryId(session, stored.seq), build)) ?? [];
  }
}

/** The sessions in the index, with the ends that they are indexed to. */
async function listIndexedSessions(
  memory: MemoryStore,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<SessionId, IndexedSession>> {
  const indexed = new Map<SessionId, IndexedSession>();
  for (let after = 0; ; ) {
    throwIfAborted(signal);
    const page = await memory.sources({ kind: "session", after, limit: PAGE_SOURCES });
    for (const { name, cursor, version } of page) indexed.set(name, { cursor, version });
    if (page.length < PAGE_SOURCES) return indexed;
    after = page.at(-1)?.number ?? after;
  }
}

/** Removes sessions from the index that are no longer in the log, as after a restored backup. */
async function forgetGoneSessions(
  { memory, sessions }: Pick<Store, "memory" | "sessions">,
  indexed: Iterable<SessionId>,
  living: ReadonlySet<SessionId>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const name of indexed) {
    throwIfAborted(signal);
    if (!living.has(name) && !(await sessions.get(name))) await memory.forget({ kind: "session", name });
  }
}

/** Completes erasures whose process died, if the entry or session is indeed gone. */
async function settleErasures({
  entries,
  sessions,
  memory,
}: Pick<Store, "entries" | "sessions" | "memory">): Promise<void> {
  for (const { session, seq } of await memory.expectedErasures(MAX_ERASURES)) {
    const seqs = seq === undefined ? undefined : [seq];
    const entry = seq === undefined ? undefined : await entries.get(session, seq);
    const isGone =
      seq === undefined ? !(await sessions.get(session)) : entry === undefined || entry.kind === "redacted";
    // Content that still exists may be about to be erased.
    if (!isGone) continue;
    await memory.forget({ kind: "session", name: session }, seqs);
    await memory.settleErasure(session, seqs);
  }
}
