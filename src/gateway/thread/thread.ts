import { Conversation, type Placed } from "../../conversation/conversation.ts";
import type { LineMessage, LineSeen } from "../../conversation/known-line.ts";
import type { Blobs, MessageInput, Session } from "../../index.ts";
import type { Base64Of } from "../api/api.ts";
import type { CutBody } from "../body/cut.ts";
import type { WireMessage, WireMessages } from "../body/wire-message.ts";
import type { Candidate, ThreadKind } from "../identity/choose-thread.ts";
import type { Asked } from "./asked.ts";
import { EphemeralTail } from "./ephemeral-tail.ts";
import { WrittenMessages } from "./outgoing.ts";
import type { SessionMark } from "./session-mark.ts";
import { keyOf } from "./stored.ts";
import { WindowSet } from "./window-set.ts";

const BYTES_PER_THREAD = 64_000;
const BYTES_PER_MESSAGE = 1_000;
const BYTES_PER_TOKEN = 10;

/** What a thread is made of. */
export interface ThreadParts {
  readonly session: Session;
  readonly mark: SessionMark;
  readonly blobs: Pick<Blobs, "bytes">;
  /** A message as it is stored. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
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
  readonly #tail = new EphemeralTail();
  #kind: ThreadKind;
  #inFlight = 0;
  #requestLength = 0;
  #wasDelivered = true;
  #wasAskedAgain = false;
  #body: CutBody | undefined;
  #windowBytes = 0;
  #isClosed = false;

  constructor(parts: ThreadParts) {
    const { session, mark } = parts;
    this.#parts = parts;
    this.session = session;
    this.#kind = mark.kind;
    this.conversation = new Conversation(session, keyOf);
    this.windows = new WindowSet(session);
  }

  /** What its requests are for. */
  get kind(): ThreadKind {
    return this.#kind;
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

  /** What says whether a request belongs to it. */
  async candidate(explicit: string | undefined): Promise<Candidate> {
    const { shape, agent } = this.#parts.mark;
    const { keys, roles } = await this.#lineSeen();
    return {
      id: this.session.id,
      keys,
      roles,
      shape,
      kind: this.#kind,
      explicit,
      agent,
      lastRequestLength: this.#requestLength,
      isInFlight: this.#inFlight > 0,
      lastReplyWasDelivered: this.#wasDelivered,
      wasAskedAgain: this.#wasAskedAgain,
    };
  }

  /** Counts a request that will begin: whoever comes meanwhile is to see it. */
  reserve(): void {
    this.#inFlight++;
  }

  /** Makes the log say what a request says. */
  async take({ said, isContinued }: Asked): Promise<Placed<WireMessage>> {
    const { messages, cut } = said;
    if (isContinued) return this.conversation.takeNew(messages);
    this.written.keepFirst(cut.like !== undefined && cut.like === this.#body ? cut.same : 0);
    this.#wasAskedAgain = !this.#wasDelivered && messages.length === this.#requestLength;
    this.#requestLength = messages.length;
    this.#wasDelivered = false;
    const tail = this.tailOf(said).length;
    return this.conversation.takeWhole(messages.slice(0, messages.length - tail), this.#tail.align);
  }

  /** Messages at the end of a request that the client will not say again: they are sent and not kept on the line. */
  tailOf({ messages }: WireMessages): readonly WireMessage[] {
    return this.#tail.of(messages);
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
