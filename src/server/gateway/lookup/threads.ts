import type { StoredPlace } from "../../../kernel/faces/log.ts";
import {
  type Kernel,
  LonghaulError,
  type MessageInput,
  type Session,
  type SessionId,
} from "../../../kernel/index.ts";
import { SerialQueue } from "../../../model/base/serial-queue.ts";
import { decideThread, type ThreadDecision } from "../identity/choose-thread.ts";
import { buildRootId, type CallerIdentity } from "../identity/conversation-keys.ts";
import { listPersonIds } from "../identity/person-ids.ts";
import type { AskedRequests } from "../thread/asked-requests.ts";
import type { ResponsePlace } from "../thread/response-ids.ts";
import { parseThreadMeta, sortByUse, Thread, type ThreadMeta } from "../thread/thread.ts";
import {
  type ClientSummary,
  findReplySummary,
  findStoredSummary,
  linkSummary,
  recordContinued,
  type StoredSummary,
} from "./client-summaries.ts";
import {
  findRepeatedThread,
  isRepeatedInFull,
  reserveTrimmedThread,
  type ThreadLookup,
} from "./compare-threads.ts";
import { forkThread, openNewThread } from "./new-thread.ts";
import type { OldPlaces } from "./old-places.ts";
import { RetentionShare } from "./retention-share.ts";

/** Conversations with the same key to compare, the newest first. */
const MAX_ALIKE = 32;
/** Number of times that other gateways may begin conversations of a family while one is being chosen. */
const MAX_ROUNDS = 50;
const CROWDED = `Other gateways have begun ${MAX_ROUNDS} conversations with the same beginning at this moment; repeat the request.`;

/** A decision, and the thread that it continues. */
interface DecidedThread extends Omit<ThreadDecision, "chosen"> {
  readonly chosen: Thread | undefined;
}

/** A client's summary, with its place in the store. */
interface FoundSummary extends ClientSummary {
  readonly stored: StoredSummary;
}

/** Services of conversations. */
interface ThreadsDeps {
  readonly kernel: Kernel;
  readonly oldPlaces: OldPlaces;
  /** Requests that gateways answer at this moment. */
  readonly asked: AskedRequests;
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  /** Share of new conversations that belong to the control arm; 0 if there is none. */
  readonly controlShare: () => number;
  /** Maximum number of names of conversations that left memory. */
  readonly leftThreads: () => number;
}

/** Limits on the conversations held in memory. */
interface ThreadLimits {
  readonly maxThreads: number;
  /** Approximate memory of all conversations together. */
  readonly maxThreadBytes: number;
}

interface OpenThread {
  readonly thread: Thread;
  readonly caller: CallerIdentity;
  sizeBytes: number;
  /** True until its first request was found. */
  isNew: boolean;
}

/**
 * Finds the conversations of requests by their places in the store, whichever gateway has written them. Threads in
 * memory only save reading: the least recently used are closed, and found again like any other.
 */
export class Threads {
  readonly #deps: ThreadsDeps;
  readonly #limits: () => ThreadLimits;
  readonly #startedAt = Date.now();
  /** Least recently used first. */
  readonly #open = new Map<SessionId, OpenThread>();
  readonly #opening = new Map<SessionId, Promise<Thread | undefined>>();
  /** Threads that a running look-up compares, with the number of such look-ups. */
  readonly #compared = new Map<Thread, number>();
  /** Requests that may belong together are looked up one after another. */
  readonly #queues = new Map<string, SerialQueue>();
  /** Decides about the share of the memory limit that pays off. */
  readonly retention: RetentionShare;
  #sizeBytes = 0;

  constructor(deps: ThreadsDeps, limits: () => ThreadLimits) {
    this.#deps = deps;
    this.#limits = limits;
    this.retention = new RetentionShare(deps.leftThreads);
  }

  /** Number of open threads. */
  get count(): number {
    return this.#open.size;
  }

  /** Approximate memory of all threads. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Finds or creates the thread of a request, and reserves it. */
  async find(request: ThreadLookup): Promise<Thread> {
    const { family } = request.places;
    const queue = this.#queues.get(family) ?? new SerialQueue();
    this.#queues.set(family, queue);
    let thread: Thread;
    try {
      thread = await queue.run(async () => {
        for (let round = 1; ; round++) {
          using compared = this.#compare(request.caller);
          const found = await this.#lookUp(request, compared);
          if (found) return found;
          if (round === MAX_ROUNDS) throw new LonghaulError("STORE_BUSY", CROWDED);
        }
      });
    } finally {
      if (queue.waiting === 0) this.#queues.delete(family);
    }
    return this.#recordUse(thread);
  }

  /**
   * Finds and reserves the thread of the reply that a request follows, a fork of it while another request is in
   * progress; undefined if its session is gone.
   */
  async findAfter(caller: CallerIdentity, place: ResponsePlace): Promise<Thread | undefined> {
    using compared = this.#compare(caller);
    const thread = await compared.open(place.session);
    if (!thread) return undefined;
    const isBusy = thread.progress.inFlight > 0;
    const fork = isBusy ? await forkThread(this.#deps.kernel, thread, place.entry) : undefined;
    const own = fork ? compared.add(fork.session, fork.meta) : thread;
    return this.#recordUse(this.#reserve(own));
  }

  /** Restarts a conversation whose session was deleted while it was open; false if none with that id is open. */
  async renew(id: SessionId): Promise<boolean> {
    const known = this.#open.get(id);
    // Another request may already have renewed it.
    if (!known || (await this.#deps.kernel.find(id))) return known !== undefined;
    this.#remove(known);
    if (known.thread.progress.inFlight === 0) await known.thread.close().catch(() => undefined);
    return true;
  }

  /** Closes all conversations without a request in progress; they are found again in the store. */
  dropIdle(): Promise<void> {
    return this.#makeRoom(0);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ thread }) => thread.close()));
    this.#open.clear();
  }

  /** The thread of a request, reserved; undefined if another gateway has begun it under the id of a new one. */
  async #lookUp(request: ThreadLookup, compared: ComparedThreads): Promise<Thread | undefined> {
    const { kernel } = this.#deps;
    const { caller, isMain, places } = request;
    const family = caller.explicit === undefined ? [] : await this.#openFamily(caller, compared);
    const main = family.find(({ kind }) => kind === "main");
    if (isMain && main) return this.#reserve(main);
    const heads = await kernel.places.findLast(places.findPath(), MAX_ALIKE);
    const near = [...new Set([...family, ...(await compared.openAll(heads))])];
    const next = near.length === 0 ? undefined : await this.#decide(request, near, "certain");
    // It repeats the line, so that no summary can stand for any of it.
    if (next?.isCertain) return next.chosen;
    const rest = await this.#openAlike(request, compared);
    const summary = await this.#findSummary(request, compared);
    const all = [...new Set([...near, ...rest, ...(summary ? [summary.thread] : [])])];
    const decision = await this.#decide(request, all, "any", summary);
    if (decision.choice.type === "continue") return this.#link(request, decision, summary);
    if (decision.choice.type === "new-main") {
      const trimmed = await this.#reserveTrimmed(request, compared);
      if (trimmed) return trimmed;
    }
    return this.#begin(request, decision, compared, all);
  }

  /** The threads under the id that a client gives its conversation: the root, and the one that has become the main one. */
  async #openFamily(caller: CallerIdentity, compared: ComparedThreads): Promise<readonly Thread[]> {
    const found: Thread[] = [];
    for (const person of listPersonIds(caller.principal)) {
      const root = await compared.open(buildRootId(caller, "", 1, person));
      if (root) found.push(root);
      const main = root?.meta.main === undefined ? undefined : await compared.open(root.meta.main);
      if (main) found.push(main);
    }
    return sortByUse(found);
  }

  /**
   * Conversations that begin with the same message or have the last reply of the request. A request without a reply can
   * only repeat one that has none either.
   */
  async #openAlike(request: ThreadLookup, compared: ComparedThreads): Promise<readonly Thread[]> {
    const { kernel, oldPlaces } = this.#deps;
    const { caller, places, firstKey, roles } = request;
    await oldPlaces.fillFamily(caller, firstKey);
    if (!roles.includes("assistant")) {
      const agents = await compared.openAll(await this.#findPlaces(places.findAgents()));
      const begun = await compared.openAll(await kernel.places.findLast(places.findOpenings(), MAX_ALIKE));
      return [...new Set([...agents, ...begun])];
    }
    const keys = [...places.findAgents(), ...places.findPaths(), ...places.findOpenings()];
    const begun = await compared.openAll(await this.#findPlaces(keys));
    const replied = (await compared.openAll(await this.#findPlaces(places.findReplies()))).filter(
      ({ meta }) => caller.explicit !== undefined || meta.firstKey === firstKey,
    );
    return [...new Set([...begun, ...replied])];
  }

  /**
   * Decides which of the threads a request continues, and reserves that at once, before another request can see it idle;
   * a decision that is not certain is taken only among "any".
   */
  async #decide(
    request: ThreadLookup,
    threads: readonly Thread[],
    which: "certain" | "any",
    summary?: FoundSummary,
  ): Promise<DecidedThread> {
    const { compared, shape, facts } = request;
    const { explicit, agent } = request.caller;
    const sorted = await sortByUse(threads);
    // In a store that gateways share, another one may be about to fill an empty conversation.
    const abandonedBefore = this.#deps.kernel.maintenance.sharedStates ? undefined : this.#startedAt;
    const lookup = { explicit, opening: request.firstKey, request: compared, copy: request, abandonedBefore };
    const candidates = await Promise.all(sorted.map((thread) => thread.describeCandidate(lookup)));
    const continues = summary?.thread.session.id;
    const decision = decideThread(candidates, { ...compared, shape, facts, explicit, agent, continues });
    const chosen = sorted[decision.chosen];
    if (which === "any" || decision.isCertain) chosen?.progress.reserve();
    return { ...decision, chosen };
  }

  /** The chosen thread, after linking it with the summary that the client continues with, if there is one. */
  async #link(
    request: ThreadLookup,
    { chosen, choice }: DecidedThread,
    summary: FoundSummary | undefined,
  ): Promise<Thread | undefined> {
    if (!chosen) return undefined;
    try {
      const isRestarted = choice.type === "continue" && choice.keep === 0;
      const reply = isRestarted && !summary ? await findReplySummary(chosen, request.opening) : undefined;
      const linked = reply === undefined ? summary : { text: reply, thread: chosen };
      if (linked?.thread === chosen && !(await isRepeatedInFull(chosen, request.keys))) {
        if (summary) await recordContinued(this.#deps.kernel, summary.stored);
        await linkSummary(linked, request.caller.client ?? "client");
      }
      return chosen;
    } catch (error) {
      chosen.progress.recordEnd(false);
      throw error;
    }
  }

  /** The summary by a client that the request continues from, with the conversation that it replaces. */
  async #findSummary(request: ThreadLookup, compared: ComparedThreads): Promise<FoundSummary | undefined> {
    const { kernel } = this.#deps;
    const { places } = request;
    const stored = await findStoredSummary(kernel, places, request.opening);
    if (!stored) return undefined;
    const thread =
      stored.main === undefined
        ? await findRepeatedThread(await compared.openAll(await this.#findPlaces(places.findReplies())), {
            ...request.compared,
            keys: request.keys,
          })
        : await compared.open(stored.main);
    return thread && { text: stored.text, thread, stored };
  }

  /** Finds and reserves a conversation whose client has removed the beginning; its last reply identifies it. */
  async #reserveTrimmed(request: ThreadLookup, compared: ComparedThreads): Promise<Thread | undefined> {
    const { caller, isMain, places, roles } = request;
    if (caller.explicit !== undefined || isMain || !roles.includes("assistant")) return undefined;
    const replied = await this.#findPlaces(places.findReplies());
    const { keys, shape } = request;
    const sought = { ...request.compared, keys, shape, agent: caller.agent };
    return reserveTrimmedThread(await compared.openAll(replied), sought);
  }

  #findPlaces(keys: readonly string[]): Promise<readonly StoredPlace[]> {
    return this.#deps.kernel.places.find(keys, MAX_ALIKE);
  }

  #reserve(thread: Thread): Thread {
    thread.progress.reserve();
    return thread;
  }

  /** Begins a conversation; undefined if another gateway has just begun one under the same id. */
  async #begin(
    request: ThreadLookup,
    { choice, kind }: DecidedThread,
    compared: ComparedThreads,
    threads: readonly Thread[],
  ): Promise<Thread | undefined> {
    const { kernel, controlShare } = this.#deps;
    const opened = await openNewThread(request, choice.type === "new-child" ? choice.kind : kind, {
      kernel,
      threads,
      startedAt: this.#startedAt,
      controlShare: controlShare(),
      toStoredTitle: (title) => this.#storedTitle(title),
    });
    return opened && this.#reserve(compared.add(opened.session, opened.meta));
  }

  /** Holds the threads of one look-up in memory until it has ended. */
  #compare(caller: CallerIdentity): ComparedThreads {
    const used = new Set<Thread>();
    const use = (thread: Thread) => {
      if (!used.has(thread)) this.#compared.set(thread, (this.#compared.get(thread) ?? 0) + 1);
      used.add(thread);
      return thread;
    };
    const open = async (id: SessionId): Promise<Thread | undefined> => {
      for (;;) {
        const known = this.#open.get(id)?.thread;
        if (known) {
          // Another gateway may have marked it.
          known.marks.refresh((await this.#deps.kernel.find(id))?.meta);
          if (!known.isClosed) return use(known);
          continue;
        }
        const opened = await this.#openStored(id, caller);
        if (!opened) return undefined;
        // Another look-up may have needed the room meanwhile.
        if (!opened.isClosed) return use(opened);
      }
    };
    return {
      use,
      open,
      openAll: async (places) => {
        const ids = new Set<SessionId>();
        for (const { session } of places) if (ids.size < MAX_ALIKE) ids.add(session);
        const threads: Thread[] = [];
        for (const id of ids) {
          const thread = await open(id);
          if (thread) threads.push(thread);
        }
        return threads;
      },
      add: (session, meta) => use(this.#add(session, meta, caller)),
      [Symbol.dispose]: () => {
        for (const thread of used) {
          const others = (this.#compared.get(thread) ?? 1) - 1;
          if (others > 0) this.#compared.set(thread, others);
          else this.#compared.delete(thread);
        }
      },
    };
  }

  /** Opens the thread of a stored session, once for all that want it; undefined if there is none. */
  #openStored(id: SessionId, caller: CallerIdentity): Promise<Thread | undefined> {
    const running = this.#opening.get(id);
    if (running) return running;
    const opening = this.#read(id, caller).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  async #read(id: SessionId, caller: CallerIdentity): Promise<Thread | undefined> {
    const { kernel } = this.#deps;
    const record = await kernel.find(id);
    const meta = parseThreadMeta(record?.meta);
    return meta && this.#add(await kernel.session(id), meta, caller, record?.parent);
  }

  #add(
    session: Session,
    meta: ThreadMeta,
    caller: CallerIdentity,
    parent: SessionId | undefined = meta.main,
  ): Thread {
    const { kernel, stored, prepareStored, asked } = this.#deps;
    const isNamed = caller.explicit !== undefined;
    const root = meta.kind === "title" && isNamed ? parent : undefined;
    const onReply = root === undefined ? undefined : (text: string) => this.#storeTitle(text, root);
    const { blobs } = kernel;
    const thread = new Thread({ session, meta, isNamed, blobs, asked, stored, prepareStored, onReply });
    const { sizeBytes } = thread;
    const earlier = this.#open.get(session.id);
    // Its session was deleted while it was open.
    if (earlier) this.#remove(earlier);
    this.#open.set(session.id, { thread, caller, sizeBytes, isNew: true });
    this.#sizeBytes += sizeBytes;
    return thread;
  }

  #remove({ thread, sizeBytes }: OpenThread): void {
    if (this.#open.get(thread.session.id)?.thread === thread) this.#open.delete(thread.session.id);
    this.#sizeBytes -= sizeBytes;
  }

  /** Records that a request has found its thread, and makes room for it. */
  async #recordUse(thread: Thread): Promise<Thread> {
    const { id } = thread.session;
    const known = this.#open.get(id);
    if (!known) return thread;
    this.#open.delete(id);
    this.#open.set(id, known);
    // While everything fits, everything is found in memory.
    if (this.retention.hasEvicted)
      this.retention.recordLookup(id, !known.isNew, this.#sizeBytes, this.#limits().maxThreadBytes);
    known.isNew = false;
    const { sizeBytes } = thread;
    this.#sizeBytes += sizeBytes - known.sizeBytes;
    known.sizeBytes = sizeBytes;
    await this.#makeRoom(this.retention.share);
    return thread;
  }

  /** Closes threads without a request, the least recently used first, until there is room for the others. */
  async #makeRoom(share: number): Promise<void> {
    const { maxThreads, maxThreadBytes } = this.#limits();
    for (const open of this.#open.values()) {
      const isFull = share === 0 || this.#open.size > maxThreads || this.#sizeBytes > maxThreadBytes * share;
      if (!isFull) return;
      const { thread } = open;
      if (thread.progress.inFlight > 0 || this.#compared.has(thread)) continue;
      this.retention.recordEviction(thread.session.id, open.sizeBytes);
      this.#remove(open);
      await thread.close().catch(() => undefined);
    }
  }

  /** Stores a title that a client has got. */
  async #storeTitle(text: string, root: SessionId): Promise<void> {
    const title = text.replaceAll(/\s+/g, " ").trim().slice(0, 120);
    const stored = title === "" ? undefined : this.#storedTitle(title);
    if (stored === undefined) return;
    await using session = await this.#deps.kernel.session(root);
    await session.update({ title: stored });
  }

  /** A title with the same redaction as stored messages. */
  #storedTitle(title: string | undefined): string | undefined {
    return title === undefined ? undefined : this.#deps.stored({ role: "user", text: title }, "").text;
  }
}

/** The threads of one look-up. */
interface ComparedThreads extends Disposable {
  /** Holds an open thread. */
  use(thread: Thread): Thread;
  /** Opens the thread of a session; undefined if it has none. */
  open(id: SessionId): Promise<Thread | undefined>;
  /** Opens the threads of places. */
  openAll(places: readonly StoredPlace[]): Promise<readonly Thread[]>;
  /** Adds the thread of a new session. */
  add(session: Session, meta: ThreadMeta): Thread;
}
