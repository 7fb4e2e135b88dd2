import { Conversation, type Placed } from "../../conversation/conversation.ts";
import type { LineMessage, LineSeen } from "../../conversation/known-line.ts";
import { type Blobs, callIdsOf, type MessageInput, type Session } from "../../index.ts";
import type { Base64Of, LoggedBytes } from "../api/api.ts";
import type { CutBody } from "../body/cut.ts";
import type { WireMessage, WireMessages } from "../body/wire-message.ts";
import type { Said } from "../identity/align-request.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import type { Candidate, ThreadKind } from "../identity/choose-thread.ts";
import { withOpening } from "../identity/opening-key.ts";
import type { Asked } from "./asked.ts";
import { InVain } from "./in-vain.ts";
import { JoinedReplies, withRunsApart, withRunsJoined } from "./joined-replies.ts";
import { WrittenMessages } from "./outgoing.ts";
import { Reminders } from "./reminders.ts";
import { type LoggedCalls, withLoggedIds } from "./renamed-calls.ts";
import type { Home } from "./response-place.ts";
import type { Sent } from "./sent-before.ts";
import { metaOf, type SessionMark } from "./session-mark.ts";
import { keyOf } from "./stored.ts";
import { WindowSet } from "./window-set.ts";

const BYTES_PER_THREAD = 64_000;
const BYTES_PER_MESSAGE = 1_000;
const BYTES_PER_TOKEN = 10;
/** Number of consecutive unknown responses after which the provider counts as storing none. */
const FORGOTTEN = 2;
/** Number of latest replies by which a conversation without its beginning is found. */
const MAX_REPLIES = 16;
const REMINDED = "Said by the client for one request only:\n";

/** Dependencies of a thread. */
export interface ThreadParts {
  readonly session: Session;
  readonly mark: SessionMark;
  /** The facts by which its family is found. */
  readonly home: Home;
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreReadable">;
  /** Converts a message to its stored form. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  /** Called with the text of each complete reply. */
  readonly onReply: (text: string) => Promise<void>;
}

/** One conversation of a client, and the session that stores it. */
export class Thread {
  readonly session: Session;
  readonly conversation: Conversation<WireMessage>;
  readonly windows: WindowSet;
  readonly written = new WrittenMessages();
  readonly #parts: ThreadParts;
  readonly #reminders = new Reminders();
  /** Number of final messages of a request that were stored as notes. */
  readonly #noted = new WeakMap<WireMessages, number>();
  readonly #joined: JoinedReplies;
  #kind: ThreadKind;
  #inFlight = 0;
  #requestLength = 0;
  #wasDelivered = true;
  #brokenLength: number | undefined;
  #calls: LoggedCalls | undefined;
  #replies: readonly string[] = [];
  #body: CutBody | undefined;
  #windowBytes = 0;
  #isClosed = false;
  #isOurs: boolean;
  #forgotten = 0;

  constructor(parts: ThreadParts) {
    const { session, mark } = parts;
    this.#parts = parts;
    this.session = session;
    this.#kind = mark.kind;
    this.#isOurs = mark.isOurs === true;
    this.conversation = new Conversation(session, keyOf);
    this.#joined = new JoinedReplies(session, (part) => parts.blobs.restore(part));
    this.windows = new WindowSet(session);
  }

  /** The purpose of its requests. */
  get kind(): ThreadKind {
    return this.#kind;
  }

  get mark(): SessionMark {
    return this.#parts.mark;
  }

  get home(): Home {
    return this.#parts.home;
  }

  /** True if the provider does not store the whole conversation, so that every request must contain it. */
  get isOurs(): boolean {
    return this.#isOurs || this.#forgotten >= FORGOTTEN;
  }

  /** Records whether the provider knew the response that a request continued. */
  remembered(wasKnown: boolean): void {
    this.#forgotten = wasKnown ? 0 : this.#forgotten + 1;
  }

  /** Marks the log as the only complete copy of the conversation. */
  async takeOver(): Promise<void> {
    if (this.#isOurs) return;
    this.#isOurs = true;
    await this.session.update({ meta: metaOf({ ...this.#parts.mark, isOurs: true }) });
  }

  /** True if its agent has tools, and so does actual work. */
  get hasTools(): boolean {
    return this.#parts.mark.shape.tools.length > 0;
  }

  /** Makes this a secondary conversation, because another one has turned out to be the main one. */
  demote(): void {
    this.#kind = "aside";
  }

  /** Number of unfinished requests. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The messages of the line, after pending writes. */
  async line(): Promise<readonly LineMessage[]> {
    return (await this.#lineSeen()).messages;
  }

  #lineSeen(): Promise<LineSeen> {
    return this.conversation.inTurn(() => this.conversation.line());
  }

  /** The facts that decide whether a request belongs to this thread; `opening` is the key of the lookup. */
  async candidate(
    explicit: string | undefined,
    opening: string | undefined,
    request: Said,
  ): Promise<Candidate> {
    const { shape, agent, firstKey } = this.#parts.mark;
    const { conversation } = this;
    const { keys, roles, messages } = await conversation.inTurn(() => conversation.lineFor(request.keys));
    const isAlike = explicit === undefined && opening === firstKey;
    const line = { keys: isAlike ? withOpening(keys, firstKey) : keys, roles };
    const runs = await this.#joined.runs({ ...line, messages }, request);
    // A line that another process left without a reply awaits a repetition of the same request.
    const isLeftUnanswered = this.#requestLength === 0 && keys.length > 0 && roles.at(-1) !== "assistant";
    return {
      id: this.session.id,
      ...(runs.length > 0 ? withRunsJoined(line, request, runs) : line),
      shape,
      kind: this.#kind,
      explicit,
      agent,
      lastRequestLength: isLeftUnanswered ? keys.length : this.#requestLength,
      isInFlight: this.#inFlight > 0,
      lastReplyWasDelivered: this.#wasDelivered && !isLeftUnanswered,
      brokenLength: this.#brokenLength,
    };
  }

  /** Splits replies that the client has joined, so that the request matches the line. */
  async asLogged(said: WireMessages): Promise<WireMessages> {
    const { keys, roles, messages } = await this.#lineSeen();
    if (keys.every((key, place) => key === said.messages[place]?.key)) return said;
    const request = {
      keys: said.messages.map(({ key }) => key),
      roles: said.messages.map(({ role }) => role),
    };
    return withRunsApart(said, messages, await this.#joined.runs({ keys, roles, messages }, request));
  }

  /** Counts a request that is about to begin, so that concurrent ones see it. */
  reserve(): void {
    this.#inFlight++;
  }

  /** True if the edited window violated a rule of the provider. */
  isSuspect = false;

  /** Requests that no other window could repair. */
  readonly inVain = new InVain();

  /** The outcome of its last request; undefined if it must not be reused. */
  sent: Sent | undefined;

  /** Records a request whose reply is pending. */
  asks({ messages }: WireMessages): void {
    const { length } = messages.filter(({ isWithNext }) => !isWithNext);
    const isAgain = !this.#wasDelivered && length >= this.#requestLength;
    this.#brokenLength = isAgain ? (this.#brokenLength ?? this.#requestLength) : undefined;
    this.#requestLength = length;
    this.#wasDelivered = false;
  }

  /** Appends the messages of a request to the log. */
  async take({ said, chain }: Asked): Promise<Placed<WireMessage>> {
    const { messages, cut } = said;
    if (chain?.behind !== undefined) return this.conversation.takeBehind(chain.behind, messages);
    if (chain) return this.conversation.takeNew(messages);
    this.written.keepFirst(cut.like !== undefined && cut.like === this.#body ? cut.same : 0);
    this.asks(said);
    const note = this.#noted.has(said) ? undefined : this.#reminders.noteIn(messages);
    if (note !== undefined) this.#noted.set(said, 1);
    this.#reminders.expect(messages);
    const given = withLoggedIds(this.takenOf(said), await this.#lastCalls());
    const placed = await this.conversation.takeWhole(given, this.#reminders.align);
    if (note !== undefined) this.conversation.appended([await this.session.note(REMINDED + note)]);
    return placed;
  }

  /** The messages of a request that belong to the line; excludes a reminder stored as a note. */
  takenOf(said: WireMessages): readonly WireMessage[] {
    const { messages } = said;
    return messages.slice(0, messages.length - (this.#noted.get(said) ?? 0));
  }

  /** Records a complete reply. */
  called(message: MessageInput | undefined): void {
    this.inVain.forget();
    if (!message) return;
    const key = canonicalKey(message);
    this.#calls = { key, ids: callIdsOf(message) };
    this.#replies = [key, ...this.#replies].slice(0, MAX_REPLIES);
  }

  /** True if a reply with this key is among the latest ones. */
  hasReplied(key: string): boolean {
    return this.#replies.includes(key);
  }

  /** The calls of the last reply; read from the log only if an earlier process stored it. */
  async #lastCalls(): Promise<LoggedCalls | undefined> {
    if (this.#calls) return this.#calls;
    const { keys, roles, messages } = await this.conversation.line();
    const at = roles.lastIndexOf("assistant");
    const entry = messages[at] && (await this.session.entry(messages[at].id));
    const ids = entry?.kind === "message" ? callIdsOf(entry.message) : [];
    this.#calls = { key: keys[at] ?? "", ids };
    return this.#calls;
  }

  /** Number of final messages of a request that look like reminders that the client will not repeat. */
  remindersIn({ messages }: WireMessages): number {
    return this.#reminders.isReminder(messages) ? 1 : 0;
  }

  /** Approximate memory: the text of its window, and a fixed amount per message. */
  get sizeBytes(): number {
    return BYTES_PER_THREAD + this.#windowBytes + this.#requestLength * BYTES_PER_MESSAGE;
  }

  /** Records the size of its window. */
  fitted(tokens: number): void {
    this.#windowBytes = tokens * BYTES_PER_TOKEN;
  }

  /** Records the kept body of its last request. */
  kept(body: CutBody | undefined): void {
    this.#body = body;
  }

  prepareStored(message: MessageInput): Promise<void> {
    return this.#parts.prepareStored([message]);
  }

  stored(message: MessageInput, key: string): MessageInput {
    return this.#parts.stored(message, key);
  }

  readonly base64Of: Base64Of = async (digest) => {
    try {
      return Buffer.from(await this.#parts.blobs.bytes(digest)).toString("base64");
    } catch {
      return undefined;
    }
  };

  /** Access to the large contents of its messages. */
  get bytes(): LoggedBytes {
    const { blobs } = this.#parts;
    return { base64Of: this.base64Of, restore: (part) => blobs.restoreReadable(part) };
  }

  /** Reports a complete reply. */
  async replied(text: string): Promise<void> {
    await this.#parts.onReply(text);
  }

  /** Records the end of a request. */
  ended(wasDelivered: boolean): void {
    this.#inFlight--;
    this.#wasDelivered = wasDelivered;
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
