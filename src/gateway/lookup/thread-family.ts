import { SerialQueue } from "../../base/serial-queue.ts";
import {
  type EntryId,
  isLonghaulError,
  type Kernel,
  type MessageInput,
  type Session,
  type SessionId,
} from "../../index.ts";
import { chooseThread, type ThreadKind } from "../identity/choose-thread.ts";
import { type CallerIdentity, findFreeChildId } from "../identity/session-ids.ts";
import { buildThreadKey, type ResponsePlace } from "../thread/response-ids.ts";
import { Thread } from "../thread/thread.ts";
import { encodeThreadMeta, type ThreadMeta } from "../thread/thread-meta.ts";
import { ClientSummaries, type ClientSummary } from "./client-summaries.ts";
import { decideThread, listCandidates, narrowThreads, type ThreadLookup } from "./decide-thread.ts";
import { createCrowdedError, type FamilyRoots } from "./family-roots.ts";
import { FamilyThreads } from "./family-threads.ts";
import { openNewThread } from "./new-thread.ts";
import { isRepeatedInFull } from "./stored-threads.ts";

/** Dependencies of a family. */
export interface ThreadFamilyDeps {
  readonly kernel: Kernel;
  /** When the gateway was started, in milliseconds. */
  readonly startedAt: number;
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  /** Share of new conversations that belong to the control arm; 0 if there is none. */
  readonly controlShare: () => number;
  /** Called when a client has summarized a conversation; `of` is missing if the conversation is unknown. */
  readonly onSummary: (summary: Pick<ClientSummary, "text"> & Partial<ClientSummary>) => void;
  /** Finds the conversation of another family that a text quotes. */
  readonly quoted: (words: string) => Promise<Thread | undefined>;
}

/** Finds the conversation that a client continues under a different first message. */
type FindContinued = () => Promise<ClientSummary | undefined>;

/** The thread of a request, if it is known. */
interface FoundThread {
  readonly type: "found" | "unsure";
  readonly thread: Thread | undefined;
}

/** Number of times that other gateways may begin conversations of a family while one is being chosen. */
const MAX_ROUNDS = 50;

/**
 * Conversations of one caller that may belong together: those with one explicit id, or those with the same beginning.
 */
export class ThreadFamily {
  readonly #deps: ThreadFamilyDeps;
  readonly #caller: CallerIdentity;
  readonly #firstKey: string;
  readonly #threads: FamilyThreads;
  readonly #summaries = new ClientSummaries();
  readonly #queue = new SerialQueue();

  constructor(deps: ThreadFamilyDeps, caller: CallerIdentity, firstKey: string) {
    this.#deps = deps;
    this.#caller = caller;
    this.#firstKey = firstKey;
    this.#threads = new FamilyThreads(deps.kernel, caller, firstKey, (...facts) => this.#build(...facts));
  }

  get threads(): readonly Thread[] {
    return this.#threads.open;
  }

  /** Approximate memory of the threads. */
  get sizeBytes(): number {
    return this.threads.reduce((sum, thread) => sum + thread.sizeBytes, 0);
  }

  get isIdle(): boolean {
    return this.#queue.waiting === 0 && this.threads.every(({ progress }) => progress.inFlight === 0);
  }

  /**
   * Finds or creates the thread of a request and reserves it; requests are handled one after another. `continued` is
   * called if no known conversation matches.
   */
  findThread(request: ThreadLookup, continued: FindContinued): Promise<Thread> {
    return this.#queue.run(() => this.#threadFor(request, continued, "any")) as Promise<Thread>;
  }

  /** Like `findThread`, but undefined if the request would start a new conversation. */
  findKnownThread(request: ThreadLookup, continued: FindContinued): Promise<Thread | undefined> {
    return this.#queue.run(() => this.#threadFor(request, continued, "known"));
  }

  /** Finds and reserves the thread of a request whose client has removed the beginning of the conversation. */
  findTrimmedThread(request: ThreadLookup): Promise<Thread | undefined> {
    return this.#queue.run(async () => {
      if (this.#roots.isNewSearch(this.#firstKey)) await this.#threads.searchStore(this.#firstKey);
      await this.#threads.reopenClosed();
      const { keys, roles, shape, caller } = request;
      const { explicit, agent } = caller;
      const candidates = await Promise.all(
        this.threads.map((thread) => thread.describeCandidate({ explicit, opening: undefined, request })),
      );
      const choice = chooseThread(candidates, { keys, roles, shape, kind: "main", explicit, agent });
      const thread = choice.type === "continue" ? this.#threads.find(choice.id) : undefined;
      thread?.progress.reserve();
      return thread;
    });
  }

  /** Finds and reserves the thread of the reply that a request follows; a fork while another request is in progress. */
  findThreadAfter(place: ResponsePlace): Promise<Thread | undefined> {
    return this.#queue.run(async () => {
      const known = this.threads.find(({ session, isClosed }) => session.id === place.session && !isClosed);
      const thread = known ?? (await this.#threads.reopen(place.session));
      if (!thread) return undefined;
      const isBusy = thread.progress.inFlight > 0;
      const fork = isBusy ? await forkThread(this.#deps.kernel, thread, place.entry) : undefined;
      const own = fork ? this.#threads.add(fork.session, fork.meta, thread) : thread;
      own.progress.reserve();
      return own;
    });
  }

  /** Adopts a conversation that continues here, because its client restarted it from a summary. */
  async #adopt({ thread, text }: ClientSummary): Promise<void> {
    await this.#threads.adopt(thread);
    this.#summaries.add({ thread, text });
  }

  /** Drops a conversation whose session was deleted while it was open; false if it does not belong to this family. */
  renew(id: SessionId): Promise<boolean> {
    return this.#queue.run(async () => {
      const isKnown = this.#threads.find(id) !== undefined || this.#roots.has(id);
      // Another request may already have renewed it.
      if (!isKnown || (await this.#deps.kernel.find(id))) return isKnown;
      await this.#threads.remove(id);
      return true;
    });
  }

  /** The id of the thread that left memory and that a request probably continues. */
  findReleased(request: ThreadLookup): SessionId | undefined {
    return this.#threads.listReleased(request)[0];
  }

  /** Closes idle threads of a family that is in use until there is enough memory, and returns them. */
  closeIdle(isEnough: () => boolean): Promise<readonly Thread[]> {
    return this.#queue.run(() => this.#threads.closeIdle(isEnough, (thread) => this.#summaries.isOf(thread)));
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #threadFor(
    request: ThreadLookup,
    continued: FindContinued,
    which: "any" | "known",
  ): Promise<Thread | undefined> {
    let isSearched = this.#roots.isNewSearch(request.firstKey);
    if (isSearched) await this.#threads.searchStore(request.firstKey);
    const isReopened = await this.#threads.reopenReleased(this.#threads.listReleased(request));
    let isSure = isSearched && !this.#roots.hasOthers;
    for (let round = 1; ; round++) {
      const found = await this.#choose(request, continued, which, isSure);
      if (found.type !== "unsure") return found.thread;
      if (round === MAX_ROUNDS) throw createCrowdedError(round);
      if (!isSearched || isSure) await this.#threads.searchStore(request.firstKey);
      if (!isReopened) await this.#threads.searchReply(request);
      isSearched = true;
      isSure = true;
    }
  }

  /** "unsure": another gateway may have begun the conversation since this one has looked into the store. */
  async #choose(
    request: ThreadLookup,
    continued: FindContinued,
    which: "any" | "known",
    isSearched: boolean,
  ): Promise<FoundThread> {
    await this.#threads.reopenClosed();
    const main = request.isMain ? this.#threads.main : undefined;
    if (main) {
      main.progress.reserve();
      return { type: "found", thread: main };
    }
    const elsewhere = this.threads.length === 0 ? await continued() : undefined;
    if (elsewhere) await this.#adopt(elsewhere);
    const summary = this.#summaries.find(request.opening);
    const candidates = await listCandidates(narrowThreads(this.threads, request), this.#deps, request);
    const { choice, kind, isCertain } = decideThread(request, candidates, this.#threads.main, summary);
    const isContinued = choice.type === "continue";
    if (!isSearched && !isCertain) return { type: "unsure", thread: undefined };
    if (which === "known" && choice.type === "new-main") return { type: "found", thread: undefined };
    const chosen = isContinued ? this.#threads.find(choice.id) : undefined;
    const thread = chosen ?? (await this.#open(request, choice.type === "new-child" ? choice.kind : kind));
    if (!thread) return { type: "unsure", thread: undefined };
    const isRestarted = isContinued && choice.keep === 0;
    const linked = summary ?? (isRestarted ? this.#summaries.findReply(thread, request.opening) : undefined);
    if (linked?.thread === thread && !(await isRepeatedInFull(thread, request.keys)))
      await this.#summaries.link(linked, this.#caller.client ?? "client");
    thread.progress.reserve();
    this.#threads.recordUse(thread);
    return { type: "found", thread };
  }

  get #roots(): FamilyRoots {
    return this.#threads.roots;
  }

  get #isExplicit(): boolean {
    return this.#caller.explicit !== undefined;
  }

  /** Opens a new conversation; undefined if another gateway has just begun one under the same id. */
  async #open(request: ThreadLookup, kind: ThreadKind): Promise<Thread | undefined> {
    const opened = await openNewThread(request, kind, {
      kernel: this.#deps.kernel,
      roots: this.#roots,
      threads: this.threads,
      main: this.#threads.main,
      isExplicit: this.#isExplicit,
      controlShare: this.#deps.controlShare(),
      toStoredTitle: (title) => this.#storedTitle(title),
      quoted: this.#deps.quoted,
    });
    return opened && this.#threads.add(opened.session, opened.meta, opened.main);
  }

  #build(session: Session, meta: ThreadMeta, main?: Thread): Thread {
    const { kernel, stored, prepareStored } = this.#deps;
    const { blobs } = kernel;
    const threadKey = buildThreadKey(this.#caller, this.#firstKey);
    const onReply = (text: string) => this.#recordReply(thread, text, main);
    const thread: Thread = new Thread({ session, meta, threadKey, blobs, stored, prepareStored, onReply });
    return thread;
  }

  async #recordReply(thread: Thread, text: string, knownMain: Thread | undefined): Promise<void> {
    const { kind } = thread.meta;
    // Conversations that only begin alike have nothing else in common.
    const isOwn = kind === "main" && !this.#isExplicit;
    const main = isOwn ? thread : (knownMain ?? this.#threads.main);
    if (kind === "main" && main) this.#summaries.addReply({ text, thread: main });
    if (kind === "compaction") {
      if (main) this.#summaries.add({ text, thread: main });
      this.#deps.onSummary({ text, ...(main && { thread: main }) });
    }
    if (kind === "title" && this.#isExplicit) await this.#storeTitle(text);
  }

  async #storeTitle(text: string): Promise<void> {
    const title = text.replaceAll(/\s+/g, " ").trim().slice(0, 120);
    const stored = title === "" ? undefined : this.#storedTitle(title);
    if (stored !== undefined) await (await this.#roots.open()).update({ title: stored });
  }

  /** A title with the same redaction as stored messages. */
  #storedTitle(title: string | undefined): string | undefined {
    return title === undefined ? undefined : this.#deps.stored({ role: "user", text: title }, "").text;
  }
}

/** Concurrent forks of the same thread take other ids. */
const MAX_TRIES = 50;

/** Forks a thread's session at an entry, and returns it with the metadata for its own thread. */
async function forkThread(
  kernel: Pick<Kernel, "find">,
  { session, conversation, meta }: Thread,
  at: EntryId,
): Promise<{ readonly session: Session; readonly meta: ThreadMeta }> {
  const own: ThreadMeta = { ...meta, kind: "agent" };
  for (let tries = 1; ; tries++) {
    const id = await findFreeChildId(kernel, session.id, own.kind, own.firstKey);
    try {
      const forked = await conversation.runInTurn(async () => {
        await conversation.ensureOnLine(at);
        return session.fork({ id, at, keepsEdits: true, meta: encodeThreadMeta(own) });
      });
      return { session: forked, meta: own };
    } catch (error) {
      const isTaken = isLonghaulError(error, "POSITION_CONFLICT") || isLonghaulError(error, "NOT_ON_LINE");
      if (!isTaken || tries >= MAX_TRIES) throw error;
    }
  }
}
