import { SerialQueue } from "../../base/serial-queue.ts";
import { type Kernel, LonghaulError, type MessageInput, type Session, type SessionId } from "../../index.ts";
import { chooseThread, type ThreadKind } from "../identity/choose-thread.ts";
import { findKnownConversation } from "../identity/find-known-conversation.ts";
import { replaceOpening } from "../identity/opening-key.ts";
import { detectRequestKind } from "../identity/request-kind.ts";
import type { CallerIdentity } from "../identity/session-ids.ts";
import { ClientSummaries } from "./client-summaries.ts";
import type { ClientSummary } from "./client-summary.ts";
import { FamilyRoots } from "./family-roots.ts";
import { forkThread } from "./fork-thread.ts";
import { isCertainChoice } from "./is-certain-choice.ts";
import { listCandidates } from "./list-candidates.ts";
import { openNewThread } from "./new-thread.ts";
import { isRepeatedInFull } from "./related-threads.ts";
import { buildThreadKey, type ResponsePlace } from "./response-place.ts";
import { openStoredThread, openStoredThreads } from "./stored-threads.ts";
import { Thread } from "./thread.ts";
import type { ThreadLookup } from "./thread-lookup.ts";
import type { ThreadMeta } from "./thread-meta.ts";

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
  #threads: Thread[] = [];
  readonly #adopted = new Set<Thread>();
  readonly #roots: FamilyRoots;
  readonly #summaries = new ClientSummaries();
  readonly #queue = new SerialQueue();

  constructor(deps: ThreadFamilyDeps, caller: CallerIdentity, firstKey: string) {
    this.#deps = deps;
    this.#caller = caller;
    this.#firstKey = firstKey;
    this.#roots = new FamilyRoots(deps.kernel, caller, firstKey);
  }

  get threads(): readonly Thread[] {
    return this.#threads;
  }

  /** Approximate memory of the threads. */
  get sizeBytes(): number {
    return this.#threads.reduce((sum, thread) => sum + thread.sizeBytes, 0);
  }

  get isIdle(): boolean {
    return this.#queue.waiting === 0 && this.#threads.every(({ inFlight }) => inFlight === 0);
  }

  /**
   * Finds or creates the thread of a request and reserves it; requests are handled one after another. `continued` is
   * called if no known conversation matches.
   */
  findThread(request: ThreadLookup, continued: FindContinued): Promise<Thread> {
    return this.#queue.run(() => this.#threadFor(request, continued, "any"));
  }

  /** Like `threadFor`, but undefined if the request would start a new conversation. */
  findKnownThread(request: ThreadLookup, continued: FindContinued): Promise<Thread | undefined> {
    return this.#queue.run(() => this.#threadFor(request, continued, "known"));
  }

  /** Finds and reserves the thread of a request whose client has removed the beginning of the conversation. */
  findTrimmedThread(request: ThreadLookup): Promise<Thread | undefined> {
    return this.#queue.run(async () => {
      if (this.#roots.isNewSearch(this.#firstKey)) await this.#searchStore(this.#firstKey);
      await this.#reopenClosed();
      const { keys, roles, shape, caller } = request;
      const { explicit, agent } = caller;
      const candidates = await Promise.all(
        this.#threads.map((thread) => thread.describeCandidate(explicit, undefined, request)),
      );
      const choice = chooseThread(candidates, { keys, roles, shape, kind: "main", explicit, agent });
      const thread = choice.type === "continue" ? this.#thread(choice.id) : undefined;
      thread?.reserve();
      return thread;
    });
  }

  /** Finds and reserves the thread of the reply that a request follows; a fork while another request is in progress. */
  findThreadAfter(place: ResponsePlace): Promise<Thread | undefined> {
    return this.#queue.run(async () => {
      const known = this.#threads.find(({ session, isClosed }) => session.id === place.session && !isClosed);
      const thread = known ?? (await this.#reopen(place.session));
      if (!thread) return undefined;
      const fork = thread.inFlight > 0 ? await forkThread(this.#deps.kernel, thread, place.entry) : undefined;
      const own = fork ? this.#add(fork.session, fork.meta, thread) : thread;
      own.reserve();
      return own;
    });
  }

  /** Adopts a conversation that continues here, because its client restarted it from a summary. */
  async #adopt({ thread, text }: ClientSummary): Promise<void> {
    await this.#roots.addRedirect(thread.session);
    this.#threads.unshift(thread);
    this.#adopted.add(thread);
    this.#summaries.add({ thread, text });
  }

  /** Drops a conversation whose session was deleted while it was open; false if it does not belong to this family. */
  renew(id: SessionId): Promise<boolean> {
    return this.#queue.run(async () => {
      const thread = this.#thread(id);
      const isKnown = thread !== undefined || this.#roots.has(id);
      // Another request may already have renewed it.
      if (!isKnown || (await this.#deps.kernel.find(id))) return isKnown;
      this.#threads = this.#threads.filter((known) => known !== thread);
      this.#roots.remove(id);
      if (thread?.inFlight === 0) await thread.close().catch(() => undefined);
      return true;
    });
  }

  async close(): Promise<void> {
    const own = this.#threads.filter((thread) => !this.#adopted.has(thread));
    await Promise.allSettled([...own, ...this.#roots.sessions].map((thread) => thread.close()));
  }

  #threadFor(request: ThreadLookup, continued: FindContinued, which: "any"): Promise<Thread>;
  #threadFor(request: ThreadLookup, continued: FindContinued, which: "known"): Promise<Thread | undefined>;
  async #threadFor(
    request: ThreadLookup,
    continued: FindContinued,
    which: "any" | "known",
  ): Promise<Thread | undefined> {
    let isSearched = this.#roots.isNewSearch(request.firstKey);
    if (isSearched) await this.#searchStore(request.firstKey);
    for (let round = 1; ; round++) {
      const found = await this.#choose(request, continued, which, isSearched);
      if (found.type !== "unsure") return found.thread;
      if (round === MAX_ROUNDS) throw createCrowdedError(round);
      await this.#searchStore(request.firstKey);
      isSearched = true;
    }
  }

  /** "unsure": another gateway may have begun the conversation since this one has looked into the store. */
  async #choose(
    request: ThreadLookup,
    continued: FindContinued,
    which: "any" | "known",
    isSearched: boolean,
  ): Promise<FoundThread> {
    const { keys, firstKey, roles, shape, facts, caller } = request;
    await this.#reopenClosed();
    const main = request.isMain ? this.#main : undefined;
    if (main) {
      main.reserve();
      return { type: "found", thread: main };
    }
    const elsewhere = this.#threads.length === 0 ? await continued() : undefined;
    if (elsewhere) await this.#adopt(elsewhere);
    const { explicit, agent } = caller;
    const isBesideMain = explicit !== undefined && this.#main?.hasTools === true;
    const summary = this.#summaries.find(request.opening);
    const continues = summary?.thread.session.id;
    const messages = { keys: this.#isExplicit ? keys : replaceOpening(keys, firstKey), roles };
    const candidates = await listCandidates(this.#threads, this.#deps, { explicit, firstKey, messages });
    const known = findKnownConversation(candidates, request, messages);
    const kind = detectRequestKind({ ...facts, hasMainConversation: isBesideMain, ...(known && { known }) });
    const choice = chooseThread(candidates, { ...messages, shape, kind, explicit, agent, continues });
    const isContinued = choice.type === "continue";
    if (!isSearched && !isCertainChoice(isContinued ? choice : undefined, candidates, request))
      return { type: "unsure", thread: undefined };
    if (which === "known" && choice.type === "new-main") return { type: "found", thread: undefined };
    const chosen = isContinued ? this.#thread(choice.id) : undefined;
    const thread = chosen ?? (await this.#open(request, choice.type === "new-child" ? choice.kind : kind));
    if (!thread) return { type: "unsure", thread: undefined };
    const isRestarted = isContinued && choice.keep === 0;
    const linked = summary ?? (isRestarted ? this.#summaries.findReply(thread, request.opening) : undefined);
    if (linked?.thread === thread && !(await isRepeatedInFull(thread, keys)))
      await this.#summaries.link(linked, this.#caller.client ?? "client");
    thread.reserve();
    return { type: "found", thread };
  }

  /** Reopens adopted threads that were closed together with their original family. */
  async #reopenClosed(): Promise<void> {
    const closed = this.#threads.filter(({ isClosed }) => isClosed);
    this.#threads = this.#threads.filter(({ isClosed }) => !isClosed);
    for (const { session } of closed) await this.#reopen(session.id);
  }

  get #main(): Thread | undefined {
    return this.#threads.find(({ kind }) => kind === "main");
  }

  #thread(id: string): Thread | undefined {
    return this.#threads.find(({ session }) => session.id === id);
  }

  get #isExplicit(): boolean {
    return this.#caller.explicit !== undefined;
  }

  /** Looks up stored conversations that a request may continue. */
  async #searchStore(firstKey: string): Promise<void> {
    const isKnown = (id: SessionId) => this.#thread(id) !== undefined;
    const stored = await openStoredThreads(this.#deps.kernel, this.#roots, firstKey, isKnown);
    for (const { session, meta } of stored) if (!isKnown(session.id)) this.#add(session, meta);
  }

  async #reopen(id: SessionId): Promise<Thread | undefined> {
    const stored = await openStoredThread(this.#deps.kernel, id);
    return stored && this.#add(stored.session, stored.meta);
  }

  /** Opens a new conversation; undefined if another gateway has just begun one under the same id. */
  async #open(request: ThreadLookup, kind: ThreadKind): Promise<Thread | undefined> {
    const opened = await openNewThread(request, kind, {
      kernel: this.#deps.kernel,
      roots: this.#roots,
      threads: this.#threads,
      main: this.#main,
      isExplicit: this.#isExplicit,
      controlShare: this.#deps.controlShare(),
      toStoredTitle: (title) => this.#storedTitle(title),
      quoted: this.#deps.quoted,
    });
    return opened && this.#add(opened.session, opened.meta, opened.main);
  }

  #add(session: Session, meta: ThreadMeta, main?: Thread): Thread {
    const { kernel, stored, prepareStored } = this.#deps;
    const onReply = (text: string) => this.#recordReply(meta.kind, text, main);
    const thread = new Thread({
      session,
      meta,
      threadKey: buildThreadKey(this.#caller, this.#firstKey),
      blobs: kernel.blobs,
      stored,
      prepareStored,
      onReply,
    });
    // Most recently used first.
    this.#threads.unshift(thread);
    return thread;
  }

  #recordReply(kind: ThreadKind, text: string, knownMain: Thread | undefined): Promise<void> | undefined {
    const main = knownMain ?? this.#main;
    if (kind === "main" && main) this.#summaries.addReply({ text, thread: main });
    if (kind === "compaction") {
      if (main) this.#summaries.add({ text, thread: main });
      this.#deps.onSummary({ text, ...(main && { thread: main }) });
    }
    return kind === "title" && this.#isExplicit ? this.#storeTitle(text) : undefined;
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

function createCrowdedError(rounds: number): LonghaulError {
  return new LonghaulError(
    "STORE_BUSY",
    `Other gateways have begun ${rounds} conversations with the same beginning at this moment; repeat the request.`,
  );
}
