import { Conversation } from "../../../kernel/calls/conversation.ts";
import type { CachedLine } from "../../../kernel/calls/line-cache.ts";
import type { Blobs } from "../../../kernel/faces/log.ts";
import { type EntryId, type MessageInput, parseEntryId, type Session } from "../../../kernel/index.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import type { KeyedMessages, ThreadCandidate, ThreadKind } from "../identity/choose-thread.ts";
import { replaceOpening } from "../identity/session-ids.ts";
import type { RequestMessage, RequestMessages } from "../request/request-messages.ts";
import { createThreadWindows, type ThreadWindows } from "./call-request.ts";
import { type MergedReplies, mergeRuns } from "./logged-replies.ts";
import { SentRequests } from "./sent-requests.ts";
import { ThreadMessages } from "./thread-messages.ts";
import { ThreadMarks, type ThreadMeta } from "./thread-meta.ts";
import { ThreadRecall } from "./thread-recall.ts";

const BYTES_PER_THREAD = 64_000;
const BYTES_PER_MESSAGE = 1_000;

/** Dependencies of a thread. */
interface ThreadDeps {
  readonly session: Session;
  readonly meta: ThreadMeta;
  /** True if the client names the conversation by an id of its own. */
  readonly isNamed: boolean;
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreMessage" | "restoreReadable">;
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
  /** True if the client names the conversation by an id of its own. */
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
  #isClosed = false;

  constructor({ session, meta, isNamed, ...deps }: ThreadDeps) {
    this.session = session;
    this.isNamed = isNamed;
    this.conversation = new Conversation(session, getMessageKey);
    this.windows = createThreadWindows(session);
    this.marks = new ThreadMarks(session, meta);
    this.progress = new RequestProgress(session);
    this.messages = new ThreadMessages(session, this.conversation, deps);
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
    const { session, kind, meta, progress, messages } = this;
    const line = await this.conversation.readRestoredLineInTurn(lookup.request.keys);
    const described = { id: session.id, kind, meta, progress, mergedReplies: messages.mergedReplies };
    return describeCandidate(described, line, lookup);
  }

  /** Approximate memory: the text of its window, and a fixed amount per message. */
  get sizeBytes(): number {
    return BYTES_PER_THREAD + this.sent.windowBytes + this.progress.requestLength * BYTES_PER_MESSAGE;
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

/** The lookup that a candidate is described for; `opening` is its key. */
export interface CandidateLookup {
  readonly explicit: string | undefined;
  readonly opening: string | undefined;
  readonly request: KeyedMessages;
}

/** The parts of a thread that describe it. */
interface DescribedThread {
  readonly id: string;
  readonly kind: ThreadKind;
  readonly meta: ThreadMeta;
  readonly progress: RequestProgress;
  readonly mergedReplies: MergedReplies;
}

/** The facts that decide whether a request belongs to a thread with this line. */
async function describeCandidate(
  thread: DescribedThread,
  { keys, roles, messages }: Pick<CachedLine, "keys" | "roles" | "messages">,
  { explicit, opening, request }: CandidateLookup,
): Promise<ThreadCandidate> {
  const { id, kind, meta, progress, mergedReplies } = thread;
  const isAlike = explicit === undefined && opening === meta.firstKey;
  const line = { keys: isAlike ? replaceOpening(keys, meta.firstKey) : keys, roles };
  const isSame = haveSameBeginning(line.keys, request.keys);
  const runs = isSame ? [] : await mergedReplies.findRuns({ ...line, messages }, request);
  const own = runs.length > 0 ? mergeRuns(line, request, runs) : line;
  return {
    id,
    keys: own.keys,
    roles: own.roles,
    shape: meta.shape,
    kind,
    explicit,
    agent: meta.agent,
    ...progress.describe(roles, messages.at(-1)?.seq),
  };
}

/** True if one of two lists begins with the other. */
function haveSameBeginning(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) if (one[index] !== other[index]) return false;
  return true;
}

/** The unfinished requests of a thread, and whether its last reply was delivered. */
class RequestProgress {
  readonly #session: Session;
  #inFlight = 0;
  #requestLength = 0;
  #wasDelivered = true;
  #brokenLength: number | undefined;
  /** Seq of the last message that this process has written; a newer one on the line is another gateway's. */
  #ownSeq = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Number of unfinished requests. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Number of messages of the last request. */
  get requestLength(): number {
    return this.#requestLength;
  }

  /** Counts a request that is about to begin, so that concurrent ones see it. */
  reserve(): void {
    this.#inFlight++;
  }

  /** Records a request whose reply is pending. */
  recordRequest({ list }: RequestMessages): void {
    const { length } = list.filter(({ isWithNext }) => !isWithNext);
    const isAgain = !this.#wasDelivered && length >= this.#requestLength;
    this.#brokenLength = isAgain ? (this.#brokenLength ?? this.#requestLength) : undefined;
    this.#requestLength = length;
    this.#wasDelivered = false;
  }

  /** Records the end of a request. */
  recordEnd(wasDelivered: boolean): void {
    this.#inFlight--;
    this.#wasDelivered = wasDelivered;
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
    lastSeq = 0,
  ): Pick<ThreadCandidate, "lastRequestLength" | "isInFlight" | "lastReplyWasDelivered" | "brokenLength"> {
    if (this.#inFlight === 0 && this.#ownSeq > 0 && lastSeq > this.#ownSeq) this.#forget();
    // A line that another process left without a reply awaits a repetition of the same request.
    const isLeftUnanswered = this.#requestLength === 0 && roles.length > 0 && roles.at(-1) !== "assistant";
    return {
      lastRequestLength: isLeftUnanswered ? roles.length : this.#requestLength,
      isInFlight: this.#inFlight > 0,
      lastReplyWasDelivered: this.#wasDelivered && !isLeftUnanswered,
      brokenLength: this.#brokenLength,
    };
  }

  /** Forgets the last request, because another gateway has continued the conversation since. */
  #forget(): void {
    this.#requestLength = 0;
    this.#wasDelivered = true;
    this.#brokenLength = undefined;
  }
}
