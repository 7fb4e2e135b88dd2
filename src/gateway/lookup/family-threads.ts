import { BoundedMap } from "../../base/bounded-map.ts";
import type { CachedLine } from "../../conversation/line-cache.ts";
import type { Kernel, Session, SessionId } from "../../index.ts";
import type { CallerIdentity } from "../identity/session-ids.ts";
import type { Thread } from "../thread/thread.ts";
import type { ThreadMeta } from "../thread/thread-meta.ts";
import type { ThreadLookup } from "./decide-thread.ts";
import { FamilyRoots } from "./family-roots.ts";
import {
  getLastReplyKey,
  openStoredThread,
  openStoredThreads,
  openThreadsWithReply,
} from "./stored-threads.ts";

/** Makes a thread of a session. */
type BuildThread = (session: Session, meta: ThreadMeta, main?: Thread) => Thread;

/** The open threads of a family, and the way to those in the store. */
export class FamilyThreads {
  readonly #kernel: Kernel;
  readonly #isExplicit: boolean;
  readonly #build: BuildThread;
  readonly roots: FamilyRoots;
  /** Threads of other families that continue here. */
  readonly #adopted = new Set<Thread>();
  readonly #released = new ReleasedThreads();
  #threads: Thread[] = [];

  constructor(kernel: Kernel, caller: CallerIdentity, firstKey: string, build: BuildThread) {
    this.#kernel = kernel;
    this.#isExplicit = caller.explicit !== undefined;
    this.#build = build;
    this.roots = new FamilyRoots(kernel, caller, firstKey);
  }

  /** Most recently used first. */
  get open(): readonly Thread[] {
    return this.#threads;
  }

  /** The main conversation. */
  get main(): Thread | undefined {
    return this.#threads.find(({ kind }) => kind === "main");
  }

  find(id: SessionId): Thread | undefined {
    return this.#threads.find(({ session }) => session.id === id);
  }

  add(session: Session, meta: ThreadMeta, main?: Thread): Thread {
    const thread = this.#build(session, meta, main);
    this.#threads.unshift(thread);
    return thread;
  }

  /** Moves a thread to the front, because it is used. */
  recordUse(thread: Thread): void {
    const at = this.#threads.indexOf(thread);
    if (at > 0) this.#threads.unshift(...this.#threads.splice(at, 1));
  }

  /** Adopts a conversation of another family. */
  async adopt(thread: Thread): Promise<void> {
    await this.roots.addRedirect(thread.session);
    this.#threads.unshift(thread);
    this.#adopted.add(thread);
  }

  /** Drops a thread whose session was deleted. */
  async remove(id: SessionId): Promise<void> {
    const thread = this.find(id);
    this.#threads = this.#threads.filter((known) => known !== thread);
    this.roots.remove(id);
    if (thread?.progress.inFlight === 0) await thread.close().catch(() => undefined);
  }

  /** Reopens adopted threads that were closed together with their original family. */
  async reopenClosed(): Promise<void> {
    const closed = this.#threads.filter(({ isClosed }) => isClosed);
    if (closed.length === 0) return;
    this.#threads = this.#threads.filter(({ isClosed }) => !isClosed);
    for (const { session } of closed) await this.reopen(session.id);
  }

  /** Opens the thread of a stored session; undefined if there is none. */
  async reopen(id: SessionId): Promise<Thread | undefined> {
    const stored = await openStoredThread(this.#kernel, id);
    return stored && this.add(stored.session, stored.meta);
  }

  /** Looks up the newest stored conversations that a request may continue. */
  async searchStore(firstKey: string): Promise<void> {
    const isShared = this.#isExplicit || this.#kernel.maintenance.sharedStates !== undefined;
    const isKnown = (id: SessionId) => this.find(id) !== undefined;
    const stored = await openStoredThreads(this.#kernel, this.roots, { firstKey, isShared, isKnown });
    // The newest comes first.
    for (const { session, meta } of stored.toReversed()) if (!isKnown(session.id)) this.add(session, meta);
  }

  /** The threads to open before a request is compared: they have its last reply, which no open thread has in its place. */
  listReleased(request: ThreadLookup): readonly SessionId[] {
    const place = request.roles.lastIndexOf("assistant");
    const reply = request.keys[place];
    const released = reply === undefined ? [] : this.#released.find(reply).filter((id) => !this.find(id));
    if (released.length === 0) return [];
    const isOpen = this.#threads.some(({ conversation }) => conversation.knownLine?.keys[place] === reply);
    return isOpen ? [] : released;
  }

  /** Opens threads that have left memory, and reads their messages; false if the store has none of them any more. */
  async reopenReleased(ids: readonly SessionId[]): Promise<boolean> {
    let isOpened = false;
    for (const id of ids.toReversed()) {
      const thread = await this.reopen(id);
      if (!thread) continue;
      await thread.conversation.readLineInTurn();
      isOpened = true;
    }
    return isOpened;
  }

  /** Opens stored conversations that end with the last reply of a request, if some are not open. */
  async searchReply(request: ThreadLookup): Promise<void> {
    const reply = getLastReplyKey(request);
    if (reply === undefined || !this.roots.hasOthers) return;
    const isKnown = (id: SessionId) => this.find(id) !== undefined;
    const stored = await openThreadsWithReply(this.#kernel, this.roots.listIdPrefixes(), reply, isKnown);
    for (const { session, meta } of stored.toReversed()) this.add(session, meta);
  }

  /**
   * Closes threads without a request in progress until there is enough memory, the least recently used first; they are
   * found again by their replies, and one that has none is not continued. Conversations under one id stay together.
   * Returns the closed threads.
   */
  async closeIdle(
    isEnough: () => boolean,
    isNeeded: (thread: Thread) => boolean,
  ): Promise<readonly Thread[]> {
    const closed: Thread[] = [];
    if (this.#isExplicit) return closed;
    for (const thread of this.#threads.toReversed()) {
      if (isEnough()) break;
      if (thread.progress.inFlight > 0 || this.#adopted.has(thread) || isNeeded(thread)) continue;
      const line = thread.conversation.knownLine;
      if (line) this.#released.add(thread.session.id, line);
      this.#threads = this.#threads.filter((known) => known !== thread);
      this.roots.release(thread.session.id);
      closed.push(thread);
      await thread.close();
    }
    return closed;
  }

  async close(): Promise<void> {
    const own = this.#threads.filter((thread) => !this.#adopted.has(thread));
    await Promise.allSettled([...own, ...this.roots.sessions].map((thread) => thread.close()));
  }
}

/** Number of replies by which threads are found that have left memory. */
const MAX_REPLIES = 20_000;
/** The last reply that a client has is among this many of its conversation, unless it goes far back. */
const REPLIES_PER_THREAD = 4;
/** Number of conversations with the same reply to open. */
const MAX_THREADS = 32;

/** Threads that have left memory, by their latest replies, so that the store need not be searched for them. */
class ReleasedThreads {
  readonly #byReply = new BoundedMap<string, readonly SessionId[]>({ max: MAX_REPLIES });

  /** Records a thread that leaves memory. */
  add(id: SessionId, { keys, roles }: Pick<CachedLine, "keys" | "roles">): void {
    let count = 0;
    for (let place = keys.length - 1; place >= 0 && count < REPLIES_PER_THREAD; place--) {
      if (roles[place] !== "assistant") continue;
      const reply = keys[place] as string;
      const others = (this.#byReply.get(reply) ?? []).filter((other) => other !== id);
      this.#byReply.set(reply, [id, ...others].slice(0, MAX_THREADS));
      count++;
    }
  }

  /** The threads with a reply, the last one released first. */
  find(reply: string): readonly SessionId[] {
    return this.#byReply.get(reply) ?? [];
  }
}
