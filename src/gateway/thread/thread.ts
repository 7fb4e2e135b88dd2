import { Conversation, type PlacedMessages } from "../../conversation/conversation.ts";
import type { LineMessage } from "../../conversation/line-cache.ts";
import {
  type EntryId,
  type MessageInput,
  parseEntryId,
  type Session,
  type SessionRecord,
} from "../../index.ts";
import type { Blobs } from "../../log-entry.ts";
import type { LoggedContent } from "../../wire/wire.ts";
import type { ThreadCandidate, ThreadKind } from "../identity/choose-thread.ts";
import { getMessageKey } from "../identity/message-key.ts";
import { EncodedMessages } from "../outgoing/outgoing-pieces.ts";
import type { CutBody } from "../request/cut-body.ts";
import type { RequestMessage, RequestMessages } from "../request/request-messages.ts";
import type { CallRequest } from "./call-request.ts";
import { type CandidateLookup, describeCandidate } from "./describe-candidate.ts";
import { HopelessRequests } from "./hopeless-requests.ts";
import type { LastSentRequest } from "./last-sent-request.ts";
import { LatestReplies } from "./latest-replies.ts";
import { restoreCallIds } from "./logged-call-ids.ts";
import { createLoggedContent } from "./logged-content.ts";
import { MergedReplies } from "./merged-replies.ts";
import { Reminders } from "./reminders.ts";
import { RequestProgress } from "./request-progress.ts";
import type { ThreadKey } from "./response-place.ts";
import { encodeThreadMeta, parseThreadMeta, type ThreadMeta } from "./thread-meta.ts";
import { ThreadRecall } from "./thread-recall.ts";
import { createThreadWindows, type ThreadWindows } from "./thread-windows.ts";

const BYTES_PER_THREAD = 64_000;
const BYTES_PER_MESSAGE = 1_000;
const BYTES_PER_TOKEN = 10;
/** An edited window keeps lines and facts of the messages it left out. */
const BYTES_PER_EDITED_TOKEN = 40;
/** Number of consecutive unknown responses after which the provider counts as storing none. */
const MAX_UNKNOWN_RESPONSES = 2;
const REMINDER_PREFIX = "Said by the client for one request only:\n";

/** Instructions of a request, and the response that they are stored with. */
interface StoredLead {
  readonly key: string;
  readonly response: string;
}

/** Dependencies of a thread. */
interface ThreadDeps {
  readonly session: Session;
  readonly meta: ThreadMeta;
  /** The facts by which its family is found. */
  readonly threadKey: ThreadKey;
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreMessage" | "restoreReadable">;
  /** Converts a message to its stored form. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void> | undefined;
  /** Called with the text of each complete reply. */
  readonly onReply: (text: string) => Promise<void> | undefined;
}

/** One conversation of a client, and the session that stores it. */
export class Thread {
  readonly session: Session;
  readonly conversation: Conversation<RequestMessage>;
  readonly windows: ThreadWindows;
  readonly encodedMessages = new EncodedMessages();
  /** Access to the large contents of its messages. */
  readonly loggedContent: LoggedContent;
  readonly #deps: ThreadDeps;
  readonly #reminders = new Reminders();
  /** Number of final messages of a request that were stored as notes. */
  readonly #noted = new WeakMap<RequestMessages, number>();
  readonly #mergedReplies: MergedReplies;
  #kind: ThreadKind;
  readonly #progress = new RequestProgress();
  readonly #replies: LatestReplies;
  #body: CutBody | undefined;
  #windowBytes = 0;
  #isClosed = false;
  #meta: ThreadMeta;
  /** The metadata of the session that `#meta` was read from. */
  #storedMeta: SessionRecord["meta"];
  #forgotten = 0;

  constructor(deps: ThreadDeps) {
    const { session, meta } = deps;
    this.#deps = deps;
    this.session = session;
    this.#kind = meta.kind;
    this.#meta = meta;
    this.conversation = new Conversation(session, getMessageKey);
    this.#mergedReplies = new MergedReplies(session, deps.blobs);
    this.windows = createThreadWindows(session);
    this.loggedContent = createLoggedContent(deps.blobs);
    this.#replies = new LatestReplies(session, this.conversation);
  }

  /** The purpose of its requests. */
  get kind(): ThreadKind {
    return this.#kind;
  }

  get meta(): ThreadMeta {
    return this.#meta;
  }

  /** Takes over marks that another gateway has set; `stored` is the metadata of the session. */
  refreshMeta(stored: SessionRecord["meta"]): void {
    if (stored === this.#storedMeta) return;
    this.#storedMeta = stored;
    this.#meta = parseThreadMeta(stored) ?? this.#meta;
  }

  /** Records the last message that this process has written; without one, the end of the log. */
  recordWritten(entry: EntryId | undefined): Promise<void> | undefined {
    if (entry === undefined) return this.session.head().then(({ seq }) => this.#progress.recordWritten(seq));
    const own = parseEntryId(entry);
    if (own.session === this.session.id) this.#progress.recordWritten(own.seq);
    return undefined;
  }

  get threadKey(): ThreadKey {
    return this.#deps.threadKey;
  }

  /** True if the provider does not store the whole conversation, so that every request must contain it. */
  get isOurs(): boolean {
    return this.#meta.isOurs === true || this.#forgotten >= MAX_UNKNOWN_RESPONSES;
  }

  /** Records whether the provider knew the response that a request continued. */
  recordProviderMemory(wasKnown: boolean): void {
    this.#forgotten = wasKnown ? 0 : this.#forgotten + 1;
  }

  /** Marks the thread for all later requests, also after a restart. */
  async mark(mark: Pick<ThreadMeta, "isOurs" | "hasRecallTools" | "arm">): Promise<void> {
    if (Object.entries(mark).every(([name, value]) => this.#meta[name as keyof typeof mark] === value))
      return;
    this.#meta = { ...this.#meta, ...mark };
    this.#storedMeta = undefined;
    await this.session.update({ meta: encodeThreadMeta(this.#meta) });
  }

  /** True if its agent has tools, and so does actual work. */
  get hasTools(): boolean {
    return this.#meta.shape.tools.length > 0;
  }

  /** Makes this a secondary conversation, because another one has turned out to be the main one. */
  demote(): void {
    this.#kind = "aside";
  }

  /** Number of unfinished requests. */
  get inFlight(): number {
    return this.#progress.inFlight;
  }

  /** The messages of the line, after pending writes. */
  async line(): Promise<readonly LineMessage[]> {
    return (await this.conversation.readLineInTurn()).messages;
  }

  /** The facts that decide whether a request belongs to this thread; no promise if they are in memory. */
  describeCandidate(lookup: CandidateLookup): ThreadCandidate | Promise<ThreadCandidate> {
    const described = {
      id: this.session.id,
      kind: this.#kind,
      meta: this.#meta,
      progress: this.#progress,
      mergedReplies: this.#mergedReplies,
    };
    const line = this.conversation.readRestoredLineInTurn(lookup.request.keys);
    return line instanceof Promise
      ? line.then((read) => describeCandidate(described, read, lookup))
      : describeCandidate(described, line, lookup);
  }

  /** Splits replies that the client has joined, so that the request matches the line. */
  splitMergedReplies(request: RequestMessages): RequestMessages | Promise<RequestMessages> {
    return this.#mergedReplies.split(request, this.conversation.readLineInTurn());
  }

  /** Counts a request that is about to begin, so that concurrent ones see it. */
  reserve(): void {
    this.#progress.reserve();
  }

  /** True if the edited window violated a rule of the provider. */
  isSuspect = false;

  /** True if its person was advised to begin a new conversation, as far as this process knows. */
  isAdvised = false;

  /** Requests that no other window could repair. */
  readonly hopeless = new HopelessRequests();

  /** Its recall between requests. */
  readonly recall = new ThreadRecall();

  /** The instructions of its requests, as last stored with a response. */
  storedLead: StoredLead | undefined;

  /** The outcome of its last request; undefined if it must not be reused. */
  lastSent: LastSentRequest | undefined;
  /** The end of the log when it was last seen without any edit; undefined if it has edits, or if nobody has looked. */
  uneditedSeq: number | undefined;

  /** Records a request whose reply is pending. */
  recordRequest({ list }: RequestMessages): void {
    this.#progress.recordRequest(list.filter(({ isWithNext }) => !isWithNext).length);
  }

  /** Appends the messages of a request to the log. */
  async appendRequest({ messages, chain }: CallRequest): Promise<PlacedMessages<RequestMessage>> {
    const { list, cut } = messages;
    if (chain?.afterEntry !== undefined) return this.conversation.takeMessagesAfter(chain.afterEntry, list);
    if (chain) return this.conversation.takeNewMessages(list);
    this.encodedMessages.keepFirst(cut.like !== undefined && cut.like === this.#body ? cut.same : 0);
    this.recordRequest(messages);
    const note = this.#noted.has(messages) ? undefined : this.#reminders.findNote(list);
    if (note !== undefined) this.#noted.set(messages, 1);
    this.#reminders.expect(list);
    const calls = this.#replies.readLastCalls();
    const given = restoreCallIds(
      this.getLineMessages(messages),
      calls instanceof Promise ? await calls : calls,
    );
    const placed = await this.conversation.takeAllMessages(given, this.#reminders.align);
    if (note !== undefined)
      this.conversation.recordAppended([await this.session.note(REMINDER_PREFIX + note)]);
    return placed;
  }

  /** The messages of a request that belong to the line; excludes a reminder stored as a note. */
  getLineMessages(messages: RequestMessages): readonly RequestMessage[] {
    const { list } = messages;
    return list.slice(0, list.length - (this.#noted.get(messages) ?? 0));
  }

  /** Records a complete reply. */
  recordReply(message: MessageInput | undefined): void {
    this.hopeless.forget();
    if (message) this.#replies.add(message);
  }

  /** True if a reply with this key is among the latest ones. */
  hasReplied(key: string): boolean {
    return this.#replies.has(key);
  }

  /** Number of final messages of a request that look like reminders that the client will not repeat. */
  countReminders({ list }: RequestMessages): number {
    return this.#reminders.isReminder(list) ? 1 : 0;
  }

  /** Approximate memory: the text of its window, and a fixed amount per message. */
  get sizeBytes(): number {
    return BYTES_PER_THREAD + this.#windowBytes + this.#progress.requestLength * BYTES_PER_MESSAGE;
  }

  /** Records the size of its window. */
  recordWindowSize(tokens: number, isEdited: boolean): void {
    this.#windowBytes = tokens * (isEdited ? BYTES_PER_EDITED_TOKEN : BYTES_PER_TOKEN);
  }

  /** Records the kept body of its last request. */
  recordKeptBody(body: CutBody | undefined): void {
    this.#body = body;
  }

  prepareStored(message: MessageInput): Promise<void> | undefined {
    return this.#deps.prepareStored([message]);
  }

  stored(message: MessageInput, key: string): MessageInput {
    return this.#deps.stored(message, key);
  }

  /** Reports a complete reply. */
  reportReply(text: string): Promise<void> | undefined {
    return this.#deps.onReply(text);
  }

  /** Records the end of a request. */
  recordEnd(wasDelivered: boolean): void {
    this.#progress.recordEnd(wasDelivered);
  }

  /** True once the thread is closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.session.close();
  }
}
