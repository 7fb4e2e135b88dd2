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
/** So many responses in a row that a provider did not know mean that it keeps none. */
const FORGOTTEN = 2;
/** Replies by which a conversation is found whose client has left the beginning out. */
const MAX_REPLIES = 16;
const REMINDED = "Said by the client for one request only:\n";

/** What a thread is made of. */
export interface ThreadParts {
  readonly session: Session;
  readonly mark: SessionMark;
  /** By what it is found again. */
  readonly home: Home;
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreReadable">;
  /** A message as it is stored. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Does beforehand what would take `stored` long. */
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  /** Told the words of each whole reply. */
  readonly onReply: (text: string) => Promise<void>;
}

/** One conversation of a client, and the session that holds it. */
export class Thread {
  readonly session: Session;
  readonly conversation: Conversation<WireMessage>;
  readonly windows: WindowSet;
  readonly written = new WrittenMessages();
  readonly #parts: ThreadParts;
  readonly #reminders = new Reminders();
  /** How many messages at the end of a request were stored as notes. */
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

  /** What its requests are for. */
  get kind(): ThreadKind {
    return this.#kind;
  }

  get mark(): SessionMark {
    return this.#parts.mark;
  }

  get home(): Home {
    return this.#parts.home;
  }

  /** True if the provider does not keep the conversation, or not all of it: then every request says all of it. */
  get isOurs(): boolean {
    return this.#isOurs || this.#forgotten >= FORGOTTEN;
  }

  /** Notes whether the provider knew the response that a request went on from. */
  remembered(wasKnown: boolean): void {
    this.#forgotten = wasKnown ? 0 : this.#forgotten + 1;
  }

  /** From now on, the log alone has all of the conversation. */
  async takeOver(): Promise<void> {
    if (this.#isOurs) return;
    this.#isOurs = true;
    await this.session.update({ meta: metaOf({ ...this.#parts.mark, isOurs: true }) });
  }

  /** True if its agent has tools: then it does some work. */
  get hasTools(): boolean {
    return this.#parts.mark.shape.tools.length > 0;
  }

  /** Another conversation has turned out to be the main one. */
  demote(): void {
    this.#kind = "aside";
  }

  /** How many requests of it have not ended. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** What its line says, once what is under way is written down. */
  async line(): Promise<readonly LineMessage[]> {
    return (await this.#lineSeen()).messages;
  }

  #lineSeen(): Promise<LineSeen> {
    return this.conversation.inTurn(() => this.conversation.line());
  }

  /** What says whether a request belongs to it; `opening` is the key that it was looked for by. */
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
    return {
      id: this.session.id,
      ...(runs.length > 0 ? withRunsJoined(line, request, runs) : line),
      shape,
      kind: this.#kind,
      explicit,
      agent,
      lastRequestLength: this.#requestLength,
      isInFlight: this.#inFlight > 0,
      lastReplyWasDelivered: this.#wasDelivered,
      brokenLength: this.#brokenLength,
    };
  }

  /** A request as its line has it, where the client has put replies together that are several there. */
  async asLogged(said: WireMessages): Promise<WireMessages> {
    const { keys, roles, messages } = await this.#lineSeen();
    if (keys.every((key, place) => key === said.messages[place]?.key)) return said;
    const request = {
      keys: said.messages.map(({ key }) => key),
      roles: said.messages.map(({ role }) => role),
    };
    return withRunsApart(said, messages, await this.#joined.runs({ keys, roles, messages }, request));
  }

  /** Counts a request that will begin: whoever comes meanwhile is to see it. */
  reserve(): void {
    this.#inFlight++;
  }

  /** True if its window as edited broke a rule of the provider. */
  isSuspect = false;

  /** Requests that no other window has helped. */
  readonly inVain = new InVain();

  /** What its last request became; undefined if that is not to be sent again. */
  sent: Sent | undefined;

  /** Notes a request, whose reply is yet to come. */
  asks({ messages }: WireMessages): void {
    const { length } = messages.filter(({ isWithNext }) => !isWithNext);
    const isAgain = !this.#wasDelivered && length >= this.#requestLength;
    this.#brokenLength = isAgain ? (this.#brokenLength ?? this.#requestLength) : undefined;
    this.#requestLength = length;
    this.#wasDelivered = false;
  }

  /** Makes the log say what a request says. */
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

  /** The messages of a request that are on the line; a reminder that was stored as a note is not. */
  takenOf(said: WireMessages): readonly WireMessage[] {
    const { messages } = said;
    return messages.slice(0, messages.length - (this.#noted.get(said) ?? 0));
  }

  /** Notes a reply that was just written down. */
  called(message: MessageInput | undefined): void {
    this.inVain.forget();
    if (!message) return;
    const key = canonicalKey(message);
    this.#calls = { key, ids: callIdsOf(message) };
    this.#replies = [key, ...this.#replies].slice(0, MAX_REPLIES);
  }

  /** True if a reply of this key is among its last ones. */
  hasReplied(key: string): boolean {
    return this.#replies.includes(key);
  }

  /** The calls of the last reply, which are read only where they were written down by an earlier process. */
  async #lastCalls(): Promise<LoggedCalls | undefined> {
    if (this.#calls) return this.#calls;
    const { keys, roles, messages } = await this.conversation.line();
    const at = roles.lastIndexOf("assistant");
    const entry = messages[at] && (await this.session.entry(messages[at].id));
    const ids = entry?.kind === "message" ? callIdsOf(entry.message) : [];
    this.#calls = { key: keys[at] ?? "", ids };
    return this.#calls;
  }

  /** How many messages at the end of a request look like reminders that the client will not say again. */
  remindersIn({ messages }: WireMessages): number {
    return this.#reminders.isReminder(messages) ? 1 : 0;
  }

  /** About how much memory it takes: its window's words, and what is known of each message. */
  get sizeBytes(): number {
    return BYTES_PER_THREAD + this.#windowBytes + this.#requestLength * BYTES_PER_MESSAGE;
  }

  /** Notes how large its window is. */
  fitted(tokens: number): void {
    this.#windowBytes = tokens * BYTES_PER_TOKEN;
  }

  /** Notes which body was kept of its last request. */
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

  /** Where the bytes of its messages come from. */
  get bytes(): LoggedBytes {
    const { blobs } = this.#parts;
    return { base64Of: this.base64Of, restore: (part) => blobs.restoreReadable(part) };
  }

  /** A whole reply was written down. */
  async replied(text: string): Promise<void> {
    await this.#parts.onReply(text);
  }

  /** A request has ended. */
  ended(wasDelivered: boolean): void {
    this.#inFlight--;
    this.#wasDelivered = wasDelivered;
  }

  /** True once it was let go. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.session.close();
  }
}
