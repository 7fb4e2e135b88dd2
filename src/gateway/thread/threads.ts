import type { SessionId } from "../../index.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { hasSummary } from "../identity/find-summary.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import { buildFamilyKey, type CallerIdentity } from "../identity/session-ids.ts";
import type { ClientSummary } from "./client-summary.ts";
import { findQuotedThread, findRepeatedThread } from "./related-threads.ts";
import type { ResponsePlace } from "./response-place.ts";
import { RetentionShare } from "./retention-share.ts";
import type { Thread } from "./thread.ts";
import { ThreadFamily, type ThreadFamilyDeps } from "./thread-family.ts";
import type { ThreadLookup } from "./thread-lookup.ts";
import { findTrimmedThread, listStoredOpenings } from "./trimmed-thread.ts";

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
  find(request: ThreadLookup): Thread | Promise<Thread> {
    const held = this.#hold(request.caller, request.firstKey, request);
    const continued = () => this.#findContinued(request);
    // A request without an id may lack the beginning of its conversation; its replies identify it.
    const { caller, isMain, roles } = request;
    const isTrimmed = caller.explicit === undefined && !isMain && roles.includes("assistant");
    const finding = isTrimmed
      ? held.family.findKnownThread(request, continued)
      : held.family.findThread(request, continued);
    if (finding instanceof Promise || !finding) return this.#finishFind(held, request, finding);
    const updating = this.#updateSize(held);
    return updating ? updating.then(() => finding) : finding;
  }

  async #finishFind(
    held: HeldFamily,
    request: ThreadLookup,
    finding: undefined | Promise<Thread | undefined>,
  ): Promise<Thread> {
    const known = (await finding) ?? (await this.#findTrimmed(request));
    const thread = known ?? (await held.family.findThread(request, () => this.#findContinued(request)));
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

  /** Updates the size of a family; undefined if no other family must leave. */
  #updateSize(held: HeldFamily): Promise<void> | undefined {
    const { threads, sizeBytes, isIdle } = held.family;
    this.#setSize(held, threads.length, sizeBytes);
    // Every request of a sliding window begins differently; families without threads are removed.
    if (threads.length === 0 && isIdle && this.#families.get(held.key) === held)
      this.#families.delete(held.key);
    return this.#isFull(this.#retention.share) ? this.#evict() : undefined;
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
    await Promise.all(this.#threadsOf(request.caller, "compaction").map((thread) => thread.line()));
    const summary = this.#summaries.find(
      (known) => known.principal === principal.id && hasSummary(known.text, request.opening()),
    );
    if (!summary) return undefined;
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
