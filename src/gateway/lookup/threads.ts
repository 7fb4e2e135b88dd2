import { BoundedMap } from "../../base/bounded-map.ts";
import { type ErrorCode, isLonghaulError, type SessionId } from "../../index.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { hasSummary } from "../identity/find-summary.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import { buildFamilyKey, type CallerIdentity } from "../identity/session-ids.ts";
import type { ResponsePlace } from "../thread/response-ids.ts";
import type { Thread } from "../thread/thread.ts";
import type { ClientSummary } from "./client-summaries.ts";
import type { ThreadLookup } from "./decide-thread.ts";
import {
  findQuotedThread,
  findRepeatedThread,
  findTrimmedThread,
  listStoredOpenings,
} from "./stored-threads.ts";
import { ThreadFamily, type ThreadFamilyDeps } from "./thread-family.ts";

/** Number of summaries by which restarted conversations are recognized. */
const MAX_SUMMARIES = 64;

interface KnownSummary {
  readonly principal: string;
  readonly text: string;
  /** Undefined until the client continues with the summary. */
  readonly thread?: Thread;
}

/** A family, with its size at the last use. */
interface HeldFamily {
  readonly key: string;
  readonly family: ThreadFamily;
  threads: number;
  sizeBytes: number;
}

/** Limits on the conversations held in memory. */
interface ThreadLimits {
  readonly maxThreads: number;
  /** Approximate memory of all conversations together. */
  readonly maxThreadBytes: number;
  /** Names of conversations that left memory. */
  readonly leftThreads: number;
}

/** All active conversations; the least recently used are closed, and found again in the store. */
export class Threads {
  readonly #deps: Omit<ThreadFamilyDeps, "onSummary" | "quoted">;
  readonly #limits: () => ThreadLimits;
  /** Most recently used last. */
  readonly #families = new Map<string, HeldFamily>();
  readonly #retention = new RetentionShare(() => this.#limits().leftThreads);
  #count = 0;
  #sizeBytes = 0;
  #summaries: KnownSummary[] = [];

  constructor(
    deps: Omit<ThreadFamilyDeps, "onSummary" | "quoted" | "startedAt">,
    limits: () => ThreadLimits,
  ) {
    this.#deps = { ...deps, startedAt: Date.now() };
    this.#limits = limits;
  }

  /** Number of open threads. */
  get count(): number {
    return this.#count;
  }

  /** Approximate memory of all threads. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Share of the memory limit that pays off. */
  get share(): number {
    return this.#retention.share;
  }

  /** Finds or creates the thread of a request, and reserves it. */
  async find(request: ThreadLookup): Promise<Thread> {
    const held = this.#hold(request.caller, request.firstKey, request);
    const continued = () => this.#findContinued(request);
    // A request without an id may lack the beginning of its conversation; its replies identify it.
    const { caller, isMain, roles } = request;
    const isTrimmed = caller.explicit === undefined && !isMain && roles.includes("assistant");
    const known = isTrimmed
      ? ((await held.family.findKnownThread(request, continued)) ?? (await this.#findTrimmed(request)))
      : undefined;
    const thread = known ?? (await held.family.findThread(request, continued));
    await this.#updateSize(held);
    return thread;
  }

  /** Finds and reserves the thread of the reply that a request follows; undefined if its session is gone. */
  async findAfter(principal: PersonIds, place: ResponsePlace): Promise<Thread | undefined> {
    const { api, client, explicit, firstKey } = place.threadKey;
    const held = this.#hold({ principal, api, client, explicit, agent: undefined }, firstKey);
    const thread = await held.family.findThreadAfter(place);
    await this.#updateSize(held);
    return thread;
  }

  /** Restarts a conversation whose session was deleted while it was open; false if none with that id is open. */
  async renew(session: SessionId): Promise<boolean> {
    let isRenewed = false;
    for (const { family } of this.#families.values()) isRenewed = (await family.renew(session)) || isRenewed;
    return isRenewed;
  }

  /** Closes all conversations without a request in progress; they are found again in the store. */
  dropIdle(): Promise<void> {
    return this.#evict(0);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#families.values()].map(({ family }) => family.close()));
    this.#families.clear();
  }

  #hold(caller: CallerIdentity, firstKey: string, request?: ThreadLookup): HeldFamily {
    const key = buildFamilyKey(caller, firstKey);
    const known = this.#families.get(key);
    const released = request && known?.family.findReleased(request);
    const isHeld = known !== undefined && released === undefined;
    this.#retention.recordLookup(released ?? key, isHeld, this.#sizeBytes, this.#limits().maxThreadBytes);
    const held = known ?? { key, family: this.#open(caller, firstKey), threads: 0, sizeBytes: 0 };
    this.#families.delete(key);
    this.#families.set(key, held);
    return held;
  }

  #open(caller: CallerIdentity, firstKey: string): ThreadFamily {
    const principal = caller.principal.id;
    const onSummary = (summary: Omit<KnownSummary, "principal">) => {
      this.#summaries = [{ ...summary, principal }, ...this.#summaries].slice(0, MAX_SUMMARIES);
    };
    const quoted = (words: string) => findQuotedThread(this.#threadsOf(caller, "main"), words);
    return new ThreadFamily({ ...this.#deps, onSummary, quoted }, caller, firstKey);
  }

  /** Updates the size of a family; others leave if there is no room for all. */
  async #updateSize(held: HeldFamily): Promise<void> {
    const { threads, sizeBytes, isIdle } = held.family;
    this.#setSize(held, threads.length, sizeBytes);
    // Every request of a sliding window begins differently; families without threads are removed.
    if (threads.length === 0 && isIdle && this.#families.get(held.key) === held)
      this.#families.delete(held.key);
    if (this.#isFull(this.#retention.share)) await this.#evict();
  }

  #isFull(share: number): boolean {
    const { maxThreads, maxThreadBytes } = this.#limits();
    return this.#count > maxThreads || this.#sizeBytes > maxThreadBytes * share;
  }

  #setSize(held: HeldFamily, threads: number, sizeBytes: number): void {
    this.#count += threads - held.threads;
    this.#sizeBytes += sizeBytes - held.sizeBytes;
    held.threads = threads;
    held.sizeBytes = sizeBytes;
  }

  /** The conversation that a client without ids continues after its own summary, under a different first message. */
  async #findContinued(request: ThreadLookup): Promise<ClientSummary | undefined> {
    const { principal, explicit } = request.caller;
    if (explicit !== undefined) return undefined;
    // A summary may have been relayed completely but not stored yet.
    await Promise.all(
      this.#threadsOf(request.caller, "compaction").map((thread) => thread.conversation.readLineInTurn()),
    );
    const [summary, ...others] = this.#summaries.filter(
      (known) => known.principal === principal.id && hasSummary(known.text, request.opening()),
    );
    // A summary that several conversations have says nothing about any of them.
    if (!summary || others.some(({ thread }) => thread !== summary.thread)) return undefined;
    const thread =
      summary.thread ?? (await findRepeatedThread(this.#threadsOf(request.caller, "main"), request));
    return thread && { text: summary.text, thread };
  }

  /** Finds and reserves the thread of a conversation whose client has removed the beginning. */
  async #findTrimmed(request: ThreadLookup): Promise<Thread | undefined> {
    const { caller } = request;
    const thread = await findTrimmedThread(this.#threadsOf(caller, "main"), request);
    const openings = thread
      ? [thread.meta.firstKey]
      : await listStoredOpenings(this.#deps.kernel, caller.principal, request);
    for (const firstKey of openings) {
      const held = this.#hold(caller, firstKey);
      const found = await held.family.findTrimmedThread(request);
      await this.#updateSize(held);
      if (found) return found;
    }
    return undefined;
  }

  /** Conversations of one kind of a caller without ids, most recently used first. */
  #threadsOf(caller: CallerIdentity, wanted: ThreadKind): readonly Thread[] {
    const beginning = buildFamilyKey({ ...caller, explicit: undefined }, "");
    const families = [...this.#families].filter(([key]) => key.startsWith(beginning)).toReversed();
    return families.flatMap(([, { family }]) => family.threads.filter(({ kind }) => kind === wanted));
  }

  async #evict(share = this.#retention.share): Promise<void> {
    for (const [key, held] of this.#families) {
      if (!this.#isFull(share)) return;
      const { family } = held;
      if (!family.isIdle) {
        const closed = await family.closeIdle(() => {
          this.#setSize(held, family.threads.length, family.sizeBytes);
          return !this.#isFull(share);
        });
        for (const { session, sizeBytes } of closed) this.#retention.recordEviction(session.id, sizeBytes);
        continue;
      }
      this.#families.delete(key);
      this.#retention.recordEviction(key, held.sizeBytes);
      this.#setSize(held, 0, 0);
      this.#summaries = this.#summaries.filter(({ thread }) => !thread || !family.threads.includes(thread));
      await family.close();
    }
  }
}

/** Number of lookups between two decisions. */
const JUDGE_AFTER_REQUESTS = 256;
const MIN_SHARE = 1 / 32;
/** Share of requests that must find their conversation in memory for keeping them to pay off. */
const MIN_HIT_SHARE = 1 / 8;

/**
 * Decides how much of the memory for conversations is used. If more conversations take turns than fit, the next one is
 * always one that was just evicted; keeping the others is then useless, and the share shrinks.
 */
export class RetentionShare {
  readonly #evictedAt: BoundedMap<string, number>;
  /** Total bytes evicted so far. */
  #evictedBytes = 0;
  #share = 1;
  #found = 0;
  #wanted = 0;
  #seen = 0;

  /** Remembers the names of `mostNames` evicted conversations. */
  constructor(maxNames: () => number) {
    this.#evictedAt = new BoundedMap({ max: maxNames });
  }

  /** Share of the room to be used. */
  get share(): number {
    return this.#share;
  }

  /** Records a lookup of a conversation and whether it was in memory; `heldBytes` of `roomBytes` are in use. */
  recordLookup(name: string, isHeld: boolean, heldBytes: number, roomBytes: number): void {
    const goneBefore = this.#evictedAt.get(name);
    if (isHeld) this.#found++;
    else if (goneBefore !== undefined && this.#evictedBytes - goneBefore + heldBytes <= roomBytes)
      this.#wanted++;
    if (isHeld || goneBefore !== undefined) this.#seen++;
    this.#evictedAt.delete(name);
    if (this.#seen >= JUDGE_AFTER_REQUESTS) this.#judge();
  }

  recordEviction(name: string, sizeBytes: number): void {
    this.#evictedBytes += sizeBytes;
    this.#evictedAt.set(name, this.#evictedBytes);
  }

  #judge(): void {
    const isWanted = this.#wanted >= JUDGE_AFTER_REQUESTS * MIN_HIT_SHARE;
    const isInVain = this.#found < JUDGE_AFTER_REQUESTS * MIN_HIT_SHARE;
    if (isWanted) this.#share = 1;
    else if (isInVain) this.#share = Math.max(MIN_SHARE, this.#share / 2);
    this.#found = 0;
    this.#wanted = 0;
    this.#seen = 0;
  }
}

/** Failures of the store that do not concern the client, because its request can still be answered. */
const STORE_FAILURES: readonly ErrorCode[] = [
  "BLOB_CORRUPT",
  "BLOB_NOT_FOUND",
  "DISK_FULL",
  "SESSION_NOT_FOUND",
  "STORE_BUSY",
  "STORE_CORRUPT",
  "STORE_IO",
  "STORE_READ_ONLY",
];

/** The code of a store failure; undefined for any other error. */
export function findStoreFailure(error: unknown): ErrorCode | undefined {
  return STORE_FAILURES.find((code) => isLonghaulError(error, code));
}

/**
 * Runs work that needs the store. If a session was deleted, its conversation is restarted from the client's messages.
 * On any other store failure, calls `onTrouble` and returns undefined, so that the request continues without the store.
 */
export async function runWithStore<T>(
  work: () => Promise<T>,
  threads: Pick<Threads, "renew">,
  onTrouble: (error: unknown, code: ErrorCode) => void,
): Promise<T | undefined> {
  for (let isSecond = false; ; isSecond = true) {
    try {
      return await work();
    } catch (error) {
      const code = findStoreFailure(error);
      if (code === undefined) throw error;
      if (code === "SESSION_NOT_FOUND" && !isSecond && (await tryRenew(threads, error))) continue;
      onTrouble(error, code);
      return undefined;
    }
  }
}

async function tryRenew(threads: Pick<Threads, "renew">, error: unknown): Promise<boolean> {
  const session = isLonghaulError(error) ? error.details.session : undefined;
  return typeof session === "string" && (await threads.renew(session));
}
