import { countCommonPrefix } from "../../../kernel/calls/align-messages.ts";
import { Conversation } from "../../../kernel/calls/conversation.ts";
import { openAgentMemory } from "../../../kernel/calls/open-agent-memory.ts";
import type { Blobs } from "../../../kernel/faces/log.ts";
import type { AgentMemory } from "../../../kernel/faces/memory.ts";
import {
  type EntryId,
  isLonghaulError,
  type Json,
  type Kernel,
  type MemoryScope,
  type MessageInput,
  parseEntryId,
  type Session,
  type SessionId,
  type SessionRecord,
} from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toObject, toText } from "../../../wire/fields.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import type { KeyedMessages, ThreadCandidate, ThreadKind } from "../identity/choose-thread.ts";
import { replaceOpening } from "../identity/conversation-keys.ts";
import type { AgentShape } from "../identity/request-kind.ts";
import { EncodedMessages } from "../outgoing/outgoing-pieces.ts";
import type { RequestMessage, RequestMessages } from "../request/request-messages.ts";
import { type AskedRequests, findQuestion } from "./asked-requests.ts";
import { type CallRequest, createThreadWindows, type SeenBody, type ThreadWindows } from "./call-request.ts";
import { mergeRuns } from "./logged-replies.ts";
import { ThreadMessages } from "./thread-messages.ts";

/** Maximum number of messages that are remembered for having no context. */
const MAX_WITHOUT_CONTEXT = 100;

const BYTES_PER_THREAD = 64_000;
const BYTES_PER_MESSAGE = 1_000;

/** Dependencies of a thread. */
interface ThreadDeps {
  readonly session: Session;
  readonly meta: ThreadMeta;
  /** True if the client sends an id for the conversation. */
  readonly isNamed: boolean;
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreMessage" | "restoreReadable">;
  /** Requests that are being answered. */
  readonly asked: AskedRequests;
  /** Converts a message to its stored form. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  /** Called with the text of each complete reply. */
  readonly onReply: ((text: string) => Promise<void>) | undefined;
}

/** One conversation of a client, and the session that stores it. */
export class Thread {
  readonly session: Session;
  /** True if the client sends an id for the conversation. */
  readonly isNamed: boolean;
  readonly conversation: Conversation<RequestMessage>;
  readonly windows: ThreadWindows;
  /** Its purpose and its marks, which are stored with the session. */
  readonly marks: ThreadMarks;
  readonly progress: RequestProgress;
  /** The way of its messages and replies to the log. */
  readonly messages: ThreadMessages;
  /** Facts about its last requests. */
  readonly sent = new SentRequests();
  /** Its recall between requests. */
  readonly recall = new ThreadRecall();
  isClosed = false;

  constructor({ session, meta, isNamed, ...deps }: ThreadDeps) {
    this.session = session;
    this.isNamed = isNamed;
    this.conversation = new Conversation(session, getMessageKey);
    this.windows = createThreadWindows(session);
    this.marks = new ThreadMarks(session, meta);
    this.progress = new RequestProgress(session, deps.asked);
    this.messages = new ThreadMessages(session, this.conversation, deps, this.progress);
  }

  /** The purpose of its requests. */
  get kind(): ThreadKind {
    return this.marks.kind;
  }

  get meta(): ThreadMeta {
    return this.marks.meta;
  }

  /** The facts that decide whether a request belongs to this thread. */
  async describeCandidate(lookup: CandidateLookup): Promise<ThreadCandidate> {
    const { kind, meta } = this;
    const { explicit, opening, request, abandonedBefore = 0 } = lookup;
    const { keys, roles, messages } = await this.conversation.readRestoredLineInTurn(lookup.copy ?? request);
    const isAlike = explicit === undefined && opening === meta.firstKey;
    const line = { keys: isAlike ? replaceOpening(keys, meta.firstKey) : keys, roles };
    const shorter = Math.min(line.keys.length, request.keys.length);
    const isSame = countCommonPrefix(line.keys, request.keys) === shorter;
    const runs = isSame ? [] : await this.messages.mergedReplies.findRuns({ ...line, messages }, request);
    const own = runs.length > 0 ? mergeRuns(line, request, runs) : line;
    const mayBeAbandoned = keys.length === 0 && this.progress.inFlight === 0 && abandonedBefore > 0;
    const isAbandoned = mayBeAbandoned && (await this.session.record()).createdAt < abandonedBefore;
    const { progress } = this;
    const isElsewhere = await progress.isAnsweredElsewhere(findQuestion({ messages, keys, roles })?.seq);
    return {
      ...{
        id: this.session.id,
        keys: own.keys,
        roles: own.roles,
        shape: meta.shape,
        kind,
        agent: meta.agent,
      },
      ...progress.describe(roles, messages.at(-1)),
      isAbandoned,
      // Another request may reserve the thread while others are described.
      get isInFlight() {
        return isElsewhere || progress.inFlight > 0;
      },
    };
  }

  /** Approximate memory: the text of its window, and a fixed amount per message. */
  get sizeBytes(): number {
    return BYTES_PER_THREAD + this.sent.windowBytes + this.progress.requestLength * BYTES_PER_MESSAGE;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return this.session.close();
  }
}

/** Threads in the order of their last entries, the newest first, which is the same for every gateway. */
export async function sortByUse(threads: readonly Thread[]): Promise<readonly Thread[]> {
  if (threads.length < 2) return threads;
  const heads = await Promise.all(
    threads.map(async (thread) => ({ thread, ...(await thread.session.head()) })),
  );
  return heads.toSorted((one, other) => other.at - one.at).map(({ thread }) => thread);
}

/** The lookup that a candidate is described for; `opening` is its key. */
interface CandidateLookup {
  readonly explicit: string | undefined;
  readonly opening: string | undefined;
  readonly request: KeyedMessages;
  /** Its messages without the changes that `request` has for comparison. */
  readonly copy?: KeyedMessages;
  /** A thread without a message that is older than this was left by a gateway that was killed before it stored one. */
  readonly abandonedBefore?: number | undefined;
}

/** The unfinished requests of a thread, and whether its last reply was delivered. */
class RequestProgress {
  readonly #session: Session;
  readonly #asked: AskedRequests;
  /** Number of unfinished requests. */
  inFlight = 0;
  /** Number of messages of the last request. */
  requestLength = 0;
  #wasDelivered = true;
  #brokenLength: number | undefined;
  /** Seq of the last message that this process has written; a newer one on the line is another gateway's. */
  #ownSeq = 0;
  /** Seq of the first message of the last question. */
  #askedSeq = 0;
  /** Seq of the last message of the line when it was last compared with a request. */
  #comparedSeq = 0;

  constructor(session: Session, asked: AskedRequests) {
    this.#session = session;
    this.#asked = asked;
  }

  /** Counts a request that is about to begin, so that concurrent ones see it. */
  reserve(): void {
    this.inFlight++;
  }

  /** Records a request whose reply is pending. */
  recordRequest({ list }: RequestMessages): void {
    let length = 0;
    for (const { isWithNext } of list) if (!isWithNext) length++;
    const isAgain = !this.#wasDelivered && length >= this.requestLength;
    this.#brokenLength = isAgain ? (this.#brokenLength ?? this.requestLength) : undefined;
    this.requestLength = length;
    this.#wasDelivered = false;
  }

  /** Records the end of a request. */
  recordEnd(wasDelivered: boolean): void {
    this.inFlight--;
    this.#wasDelivered = wasDelivered;
    // Without the record, other gateways wait with their requests until this one is closed.
    if (!wasDelivered) this.recordUnanswered().catch(() => undefined);
  }

  /** Tells other gateways that the last request ends without a whole reply. */
  async recordUnanswered(): Promise<void> {
    if (this.#askedSeq > 0) await this.#asked.recordEnd(this.#session.id, this.#askedSeq);
  }

  /** Records the first message of the question that is answered; `written` are those of this request, if they are known. */
  async recordAsked(seq: number, written: readonly number[] | undefined): Promise<void> {
    this.#askedSeq = seq;
    const isMarked = written?.includes(seq) ?? seq > this.#comparedSeq;
    if (!isMarked) await this.#asked.recordAsked(this.#session.id, seq);
  }

  /** True if another gateway is answering the question that begins with a message. */
  async isAnsweredElsewhere(seq: number | undefined): Promise<boolean> {
    if (seq === undefined || this.inFlight > 0 || seq <= this.#ownSeq) return false;
    return this.#asked.isAnsweredElsewhere(this.#session.id, seq);
  }

  /** True if another process has written a message since the conversation was compared with a request. */
  isOvertaken(seq: number): boolean {
    return seq > this.#comparedSeq && seq > this.#ownSeq;
  }

  /** Records the last message that this process has written; without one, the end of the log. */
  async recordWritten(entry: EntryId | undefined): Promise<void> {
    const written = entry === undefined ? undefined : parseEntryId(entry);
    if (written && written.session !== this.#session.id) return;
    this.#ownSeq = Math.max(this.#ownSeq, written?.seq ?? (await this.#session.head()).seq);
  }

  /** The facts by which a repeated request is recognized, for a line with these roles and the seq of its last message. */
  describe(
    roles: readonly string[],
    last: { readonly seq: number | undefined; readonly isInterrupted?: true } | undefined,
  ): Pick<ThreadCandidate, "lastRequestLength" | "lastReplyWasDelivered" | "brokenLength"> {
    const lastSeq = last?.seq ?? 0;
    this.#comparedSeq = lastSeq;
    if (this.inFlight === 0 && this.#ownSeq > 0 && lastSeq > this.#ownSeq) this.#forget();
    // A line that another process left without a reply awaits a repetition of the same request.
    const isUnanswered = last !== undefined && (roles.at(-1) !== "assistant" || last.isInterrupted === true);
    const isLeftUnanswered = this.requestLength === 0 && isUnanswered;
    return {
      lastRequestLength: this.requestLength || roles.findLastIndex((role) => role !== "assistant") + 1,
      lastReplyWasDelivered: this.#wasDelivered && !isLeftUnanswered,
      brokenLength: this.#brokenLength,
    };
  }

  /** Forgets the last request, because another gateway has continued the conversation since. */
  #forget(): void {
    this.requestLength = 0;
    this.#wasDelivered = true;
    this.#brokenLength = undefined;
  }
}

/** Recall state of a thread between its requests. */
class ThreadRecall {
  /** Names of messages that memory had nothing for, which are not searched for again. */
  readonly withoutContext = new BoundedMap<string, true>({ max: MAX_WITHOUT_CONTEXT });
  #memory: { readonly memory: AgentMemory; readonly reach: string } | undefined;

  /** The memory that the tools search; it resolves the references that it has shown. */
  getMemory(kernel: Kernel, agent: string, scope: MemoryScope | undefined): AgentMemory {
    const reach = JSON.stringify([agent, scope]);
    if (this.#memory?.reach !== reach)
      this.#memory = { memory: openAgentMemory(kernel, { agent, scope }), reach };
    return this.#memory.memory;
  }
}

/** Names messages by their keys and those of the messages before them; each repetition gets another name. */
export function nameMessages(messages: readonly RequestMessage[]): readonly string[] {
  const times = new Map<string, number>();
  return messages.map(({ key }, index) => {
    const place = `${messages[index - 1]?.key ?? ""} ${key}`;
    const time = times.get(place) ?? 0;
    times.set(place, time + 1);
    return `${place} ${time}`;
  });
}

/** Instructions of a request, and the response that they are stored with. */
interface StoredLead {
  readonly key: string;
  readonly response: string;
}

/** Facts about the last requests of a thread, for its next one. They only live as long as the thread is in memory. */
class SentRequests {
  /** The body of the last request, if it is kept. */
  seen: SeenBody | undefined;
  readonly encodedMessages = new EncodedMessages();
  /** True if the edited window violated a rule of the provider. */
  isSuspect = false;
  /** Replies whose thinking the last request left out although its elements were sent. */
  lostThoughts = 0;
  /** True if the person was advised to begin a new conversation, as far as this process knows. */
  isAdvised = false;
  /** Requests that no other window could repair. */
  readonly hopeless = new HopelessRequests();
  /** The instructions of the requests, as last stored with a response. */
  storedLead: StoredLead | undefined;
  /** Approximate memory of the window. */
  windowBytes = 0;
}

/** A request this much smaller than a refused one is worth repairing again. */
const MAX_SHARE = 0.75;

/** With fewer repairs, the turn was out of them: the next question may be repaired again. */
const MIN_REPAIRS = 3;

/** Remembers the smallest request of a thread that was finally refused as too long, until one succeeds. */
class HopelessRequests {
  /** The smallest refused request since the last success. */
  refused: { readonly model: string; readonly bytes: number } | undefined;

  /** True if a request is not much smaller than one that could not be repaired. */
  covers({ messages, frame }: CallRequest): boolean {
    const { model, bytes } = this.refused ?? {};
    return bytes !== undefined && model === frame.model && messages.cut.bytes.length > bytes * MAX_SHARE;
  }

  /** Records a request that was refused after `repairs`. */
  record({ messages, frame: { model } }: CallRequest, repairs: number): void {
    if (repairs < MIN_REPAIRS) return;
    const known = this.refused?.model === model ? this.refused.bytes : Number.POSITIVE_INFINITY;
    this.refused = { model, bytes: Math.min(known, messages.cut.bytes.length) };
  }
}

/** Error codes of a window that cannot be reduced any further. */
const HOPELESS_CODES = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/** True for the error of a window that cannot be reduced any further. */
export function isHopeless(error: unknown): boolean {
  return HOPELESS_CODES.some((code) => isLonghaulError(error, code));
}

/** Facts about a thread, stored in its session's metadata. */
export interface ThreadMeta {
  readonly kind: ThreadKind;
  readonly shape: AgentShape;
  readonly firstKey: string;
  /** The name of the client that began the conversation, for labels. */
  readonly client?: string;
  /** The sub-agent of the conversation, as the client names it. */
  readonly agent?: string;
  /** The main conversation that a secondary one belongs to, if it is known. */
  readonly main?: SessionId;
  /** The working directory of the client when the conversation began. */
  readonly project?: string;
  /** True if the provider's stored conversation is incomplete, so that requests are rewritten from the log. */
  readonly isOurs?: true;
  /** Number of consecutive responses that a request continued, but the provider did not know. */
  readonly forgotten?: number;
  /**
   * Set if the model was offered recall tools, and so is to the end of the conversation: among the tools of the request,
   * or inside the conversation.
   */
  readonly hasRecallTools?: true | "inside";
  /** The part that the conversation plays in a comparison; absent if it began without one. */
  readonly arm?: ControlArm;
}

/** Metadata of a thread as session metadata; `claim` tells which of several gateways has created the session. */
export function encodeThreadMeta(meta: ThreadMeta, claim?: string): { readonly [key: string]: Json } {
  return { gateway: { ...meta, ...dropUndefined({ claim }) } as unknown as Json };
}

/** Metadata of the thread of a session; undefined if the gateway did not create it. */
export function parseThreadMeta(meta: { readonly [key: string]: Json } | undefined): ThreadMeta | undefined {
  const stored = meta?.gateway as Partial<ThreadMeta> | undefined;
  if (typeof stored !== "object" || stored === null) return undefined;
  const { kind, shape, firstKey, client, agent, main, project, isOurs, hasRecallTools, arm } = stored;
  const forgotten = typeof stored.forgotten === "number" ? stored.forgotten : undefined;
  if (typeof kind !== "string" || typeof shape?.digest !== "string" || typeof firstKey !== "string")
    return undefined;
  return {
    kind,
    shape,
    firstKey,
    ...dropUndefined({ client: toText(client), agent: toText(agent), project: toText(project) }),
    ...dropUndefined({ main: toText(main), forgotten }),
    ...dropUndefined({ isOurs: isOurs || undefined, hasRecallTools: hasRecallTools || undefined }),
    ...dropUndefined({ arm: CONTROL_ARMS.find((one) => one === arm) }),
  };
}

/** The fact of a session that says which memories its conversation has been shown, and where. */
export const SHOWN_FACT = "shown-memories";
/** The fact of a session with the context that was added to its messages. */
export const SHOWN_CONTEXT_FACT = "shown-context";

/** Shows a conversation the memories and the context of another one whose messages it repeats. */
export async function copyShown(
  { facts }: Pick<Session, "facts">,
  to: Pick<Session, "facts">,
): Promise<void> {
  for (const name of [SHOWN_FACT, SHOWN_CONTEXT_FACT]) {
    const shown = await facts.get(name);
    if (shown !== undefined) await to.facts.set(name, shown);
  }
}

/**
 * The part that a conversation plays in a comparison: requests of the control arm are sent unchanged. A released
 * conversation belonged to the control arm until control was switched off; it counts in neither.
 */
export type ControlArm = "control" | "edited" | "released";

const CONTROL_ARMS: readonly ControlArm[] = ["control", "edited", "released"];

const DIGITS = 12;

/** The arm of a new conversation, by the digest of its session id, so that a restart does not change it. */
export function chooseArm(session: string, share: number): ControlArm {
  const place = Number.parseInt(computeDigest(`control ${session}`, DIGITS), 16) / 16 ** DIGITS;
  return place < share ? "control" : "edited";
}

/** Number of consecutive unknown responses after which the provider counts as storing none. */
const MAX_UNKNOWN_RESPONSES = 2;

/** The purpose and the marks of a thread. Other gateways may set marks too. */
class ThreadMarks {
  readonly #session: Session;
  meta: ThreadMeta;
  /** The metadata of the session that `meta` was read from. */
  #storedMeta: SessionRecord["meta"];

  constructor(session: Session, meta: ThreadMeta) {
    this.#session = session;
    this.meta = meta;
  }

  /** True if the agent has tools, and so does actual work. */
  get hasTools(): boolean {
    return this.meta.shape.tools.length > 0;
  }

  /** Takes over marks that another gateway has set; `stored` is the metadata of the session. */
  refresh(stored: SessionRecord["meta"]): void {
    if (stored === this.#storedMeta) return;
    this.#storedMeta = stored;
    this.meta = parseThreadMeta(stored) ?? this.meta;
  }

  /** Sets marks for all later requests, even after a restart. */
  async set(
    marks: Partial<Pick<ThreadMeta, "isOurs" | "forgotten" | "hasRecallTools" | "arm" | "kind" | "main">>,
  ) {
    if (Object.entries(marks).every(([name, value]) => this.meta[name as keyof typeof marks] === value))
      return;
    this.meta = { ...this.meta, ...marks };
    this.#storedMeta = undefined;
    await this.#session.update(({ meta }) => ({
      meta: { ...meta, gateway: { ...toObject(meta?.gateway), ...marks } as Json },
    }));
  }

  /** The purpose of its requests. */
  get kind(): ThreadKind {
    return this.meta.kind;
  }

  /** True if the provider does not store the whole conversation, so that every request must contain it. */
  get isOurs(): boolean {
    return this.meta.isOurs === true || (this.meta.forgotten ?? 0) >= MAX_UNKNOWN_RESPONSES;
  }
}
