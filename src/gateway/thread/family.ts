import type { EntryId, Kernel, MessageInput, Session, SessionId } from "../../index.ts";
import { chooseThread, type ThreadKind } from "../identity/choose-thread.ts";
import { kindOf } from "../identity/kind.ts";
import { knownConversation } from "../identity/known-conversation.ts";
import { withOpening } from "../identity/opening-key.ts";
import { lastWords } from "../identity/request-facts.ts";
import { ClientSummaries } from "./client-summaries.ts";
import type { ClientSummary } from "./client-summary.ts";
import { forkThread } from "./fork-thread.ts";
import { type Caller, freeChildId, rootId } from "./names.ts";
import type { Request } from "./request.ts";
import { homeOf, type ResponsePlace } from "./response-place.ts";
import { markOf, metaOf, type SessionMark } from "./session-mark.ts";
import { putSign, signedTo } from "./sign.ts";
import { closestThread, isStillSaid } from "./summarised.ts";
import { Thread } from "./thread.ts";
import { titleOf } from "./title.ts";

/** Dependencies of a family. */
export interface FamilyParts {
  readonly kernel: Kernel;
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  /** Called when a client has summarized a conversation; `of` is missing if the conversation is unknown. */
  readonly onSummary: (summary: Pick<ClientSummary, "text"> & Partial<ClientSummary>) => void;
  /** Finds the conversation of another family that a text quotes. */
  readonly quoted: (words: string) => Promise<Thread | undefined>;
}

/** Finds the conversation that a client continues under a different first message. */
export type Continued = () => Promise<ClientSummary | undefined>;

/** Maximum number of conversations with the same beginning that are found again after a restart. */
const MOST_ALIKE = 32;
const MOST_CHILDREN = 100;

/**
 * Conversations of one caller that may belong together: those with one explicit id, or those with the same beginning.
 */
export class Family {
  readonly #parts: FamilyParts;
  readonly #caller: Caller;
  readonly #firstKey: string;
  #threads: Thread[] = [];
  readonly #adopted = new Set<Thread>();
  /** First messages whose conversations have been looked up in the store. */
  readonly #looked = new Set<string>();
  #roots: Session[] = [];
  readonly #summaries = new ClientSummaries();
  #turn: Promise<unknown> = Promise.resolve();
  /** Number of requests waiting for their thread. */
  #waiting = 0;

  constructor(parts: FamilyParts, caller: Caller, firstKey: string) {
    this.#parts = parts;
    this.#caller = caller;
    this.#firstKey = firstKey;
  }

  get threads(): readonly Thread[] {
    return this.#threads;
  }

  /** Approximate memory of the threads. */
  get sizeBytes(): number {
    return this.#threads.reduce((sum, thread) => sum + thread.sizeBytes, 0);
  }

  get isIdle(): boolean {
    return this.#waiting === 0 && this.#threads.every(({ inFlight }) => inFlight === 0);
  }

  /**
   * Finds or creates the thread of a request and reserves it; requests are handled one after another. `continued` is
   * called if no known conversation matches.
   */
  threadFor(request: Request, continued: Continued): Promise<Thread> {
    return this.#inTurn(() => this.#threadFor(request, continued, "any"));
  }

  /** Like `threadFor`, but undefined if the request would start a new conversation. */
  knownThreadFor(request: Request, continued: Continued): Promise<Thread | undefined> {
    return this.#inTurn(() => this.#threadFor(request, continued, "known"));
  }

  /** Finds and reserves the thread of a request whose client has removed the beginning of the conversation. */
  trimmedThreadFor(request: Request): Promise<Thread | undefined> {
    return this.#inTurn(async () => {
      await this.#look(this.#firstKey);
      await this.#reopenClosed();
      const { keys, roles, shape, caller } = request;
      const { explicit, agent } = caller;
      const candidates = await Promise.all(
        this.#threads.map((thread) => thread.candidate(explicit, undefined, request)),
      );
      const choice = chooseThread(candidates, { keys, roles, shape, kind: "main", explicit, agent });
      const thread = choice.type === "continue" ? this.#thread(choice.id) : undefined;
      thread?.reserve();
      return thread;
    });
  }

  /** Finds and reserves the thread of the reply that a request follows; a fork while another request is in progress. */
  threadBehind(place: ResponsePlace): Promise<Thread | undefined> {
    return this.#inTurn(async () => {
      const known = this.#threads.find(({ session, isClosed }) => session.id === place.session && !isClosed);
      const thread = known ?? (await this.#reopen(place.session));
      if (!thread) return undefined;
      const own = thread.inFlight > 0 ? await this.#fork(thread, place.entry) : thread;
      own.reserve();
      return own;
    });
  }

  async #fork(of: Thread, at: EntryId): Promise<Thread> {
    const { session, mark } = await forkThread(this.#parts.kernel, of, at);
    return this.#add(session, mark, of);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const mine = this.#turn.then(work);
    this.#turn = mine
      .catch(() => undefined)
      .finally(() => {
        this.#waiting--;
      });
    return mine;
  }

  /** Adopts a conversation that continues here, because its client restarted it from a summary. */
  async #adopt({ of, text }: ClientSummary): Promise<void> {
    const id = rootId(this.#caller, this.#firstKey, this.#freeOrdinal());
    this.#roots.push(await putSign(of.session, id));
    this.#threads.unshift(of);
    this.#adopted.add(of);
    this.#summaries.add({ of, text });
  }

  /** Drops a conversation whose session was deleted while it was open; false if it does not belong to this family. */
  renew(id: SessionId): Promise<boolean> {
    return this.#inTurn(async () => {
      const thread = this.#thread(id);
      const isKnown = thread !== undefined || this.#roots.some((root) => root.id === id);
      // Another request may already have renewed it.
      if (!isKnown || (await this.#parts.kernel.find(id))) return isKnown;
      this.#threads = this.#threads.filter((known) => known !== thread);
      this.#roots = this.#roots.filter((root) => root.id !== id);
      if (thread?.inFlight === 0) await thread.close().catch(() => undefined);
      return true;
    });
  }

  async close(): Promise<void> {
    const own = this.#threads.filter((thread) => !this.#adopted.has(thread));
    await Promise.allSettled([...own, ...this.#roots].map((thread) => thread.close()));
  }

  #threadFor(request: Request, continued: Continued, which: "any"): Promise<Thread>;
  #threadFor(request: Request, continued: Continued, which: "known"): Promise<Thread | undefined>;
  async #threadFor(
    request: Request,
    continued: Continued,
    which: "any" | "known",
  ): Promise<Thread | undefined> {
    const { keys, firstKey, roles, shape, facts, caller } = request;
    await this.#look(firstKey);
    await this.#reopenClosed();
    const main = request.isMain ? this.#main : undefined;
    if (main) {
      main.reserve();
      return main;
    }
    const elsewhere = this.#threads.length === 0 ? await continued() : undefined;
    if (elsewhere) await this.#adopt(elsewhere);
    const { explicit, agent } = caller;
    const isBesideMain = explicit !== undefined && this.#main?.hasTools === true;
    const summary = this.#summaries.find(request.opening);
    const continues = summary?.of.session.id;
    const said = { keys: this.#isExplicit ? keys : withOpening(keys, firstKey), roles };
    const candidates = await Promise.all(
      this.#threads.map((thread) => thread.candidate(explicit, firstKey, said)),
    );
    const known = knownConversation(candidates, request, said);
    const kind = kindOf({ ...facts, isBesideMain, ...(known && { known }) });
    const choice = chooseThread(candidates, { ...said, shape, kind, explicit, agent, continues });
    if (which === "known" && choice.type === "new-main") return undefined;
    const chosen = choice.type === "continue" ? this.#thread(choice.id) : undefined;
    const thread = chosen ?? (await this.#open(request, choice.type === "new-child" ? choice.kind : kind));
    const isAnew = choice.type === "continue" && choice.keep === 0;
    const told = summary ?? (isAnew ? this.#summaries.findReply(thread, request.opening) : undefined);
    if (told?.of === thread && !(await isStillSaid(thread, keys)))
      await this.#summaries.link(told, this.#caller.client ?? "client");
    thread.reserve();
    return thread;
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
  async #look(firstKey: string): Promise<void> {
    if (this.#looked.has(firstKey) || this.#looked.size >= MOST_ALIKE) return;
    this.#looked.add(firstKey);
    const { kernel } = this.#parts;
    const most = this.#isExplicit ? 1 : MOST_ALIKE;
    while (this.#roots.length < most) {
      const id = rootId(this.#caller, this.#firstKey, this.#roots.length + 1);
      const record = await kernel.find(id);
      if (!record) break;
      const root = await kernel.session(id);
      this.#roots.push(root);
      const mark = markOf(record.meta);
      const elsewhere = signedTo(record.meta);
      if (mark && !this.#thread(id)) this.#add(root, mark);
      else if (elsewhere !== undefined && !this.#thread(elsewhere)) await this.#reopen(elsewhere);
    }
    for (const root of this.#roots) {
      for (const { id, meta } of await root.children({ limit: MOST_CHILDREN })) {
        const mark = markOf(meta);
        if (mark?.firstKey === firstKey && !this.#thread(id)) this.#add(await kernel.session(id), mark);
      }
    }
  }

  async #reopen(id: SessionId): Promise<Thread | undefined> {
    const { kernel } = this.#parts;
    const mark = markOf((await kernel.find(id))?.meta);
    return mark && this.#add(await kernel.session(id), mark);
  }

  async #open({ shape, keys, firstKey, caller, facts }: Request, kind: ThreadKind): Promise<Thread> {
    const mark = { kind, shape, firstKey, ...(caller.agent !== undefined && { agent: caller.agent }) };
    const meta = metaOf(mark);
    const whole = kind === "compaction" ? await closestThread(this.#threads, keys) : undefined;
    if (whole) {
      const { session } = whole.thread;
      const id = await freeChildId(this.#parts.kernel, session.id, kind, firstKey);
      return this.#add(await session.fork({ id, at: whole.last, meta }), mark, whole.thread);
    }
    const isRoot = !this.#isExplicit || (kind === "main" && !this.#main);
    const root = await this.#root(this.#isExplicit ? 1 : this.#freeOrdinal());
    if (isRoot) {
      const { title = this.#storedTitle(titleOf(facts.messages)) } = await root.record();
      await root.update({ meta, ...(title !== undefined && { title }) });
      const isElsewhere = kind === "compaction" && !this.#main;
      return this.#add(
        root,
        mark,
        isElsewhere ? await this.#parts.quoted(lastWords(facts.messages)) : undefined,
      );
    }
    const main = this.#main;
    const id = await freeChildId(this.#parts.kernel, root.id, kind, firstKey);
    const child = await root.child({ id, meta });
    if (kind === "main") main?.demote();
    return this.#add(child, mark, main);
  }

  async #root(ordinal: number): Promise<Session> {
    const id = rootId(this.#caller, this.#firstKey, ordinal);
    const known = this.#roots.find((root) => root.id === id);
    if (known) return known;
    const root = await this.#parts.kernel.session(id);
    this.#roots.push(root);
    return root;
  }

  /** The first ordinal that is not in use here; ordinals of deleted conversations are free again. */
  #freeOrdinal(): number {
    const taken = new Set(this.#roots.map((root) => root.id));
    let ordinal = 1;
    while (taken.has(rootId(this.#caller, this.#firstKey, ordinal))) ordinal++;
    return ordinal;
  }

  #add(session: Session, mark: SessionMark, of?: Thread): Thread {
    const { kernel, stored, prepareStored } = this.#parts;
    const onReply = (text: string) => this.#replied(mark.kind, text, of);
    const thread = new Thread({
      session,
      mark,
      home: homeOf(this.#caller, this.#firstKey),
      blobs: kernel.blobs,
      stored,
      prepareStored,
      onReply,
    });
    // Most recently used first.
    this.#threads.unshift(thread);
    return thread;
  }

  async #replied(kind: ThreadKind, text: string, of: Thread | undefined): Promise<void> {
    const main = of ?? this.#main;
    if (kind === "main" && main) this.#summaries.addReply({ text, of: main });
    if (kind === "compaction") {
      if (main) this.#summaries.add({ text, of: main });
      this.#parts.onSummary({ text, ...(main && { of: main }) });
    }
    if (kind === "title" && this.#isExplicit) {
      const title = text.replaceAll(/\s+/g, " ").trim().slice(0, 120);
      const stored = title === "" ? undefined : this.#storedTitle(title);
      if (stored !== undefined) await (await this.#root(1)).update({ title: stored });
    }
  }

  /** A title with the same redaction as stored messages. */
  #storedTitle(title: string | undefined): string | undefined {
    return title === undefined ? undefined : this.#parts.stored({ role: "user", text: title }, "").text;
  }
}
