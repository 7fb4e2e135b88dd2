import { countCommonPrefix } from "../../../kernel/calls/align-messages.ts";
import { Conversation } from "../../../kernel/calls/conversation.ts";
import { openAgentMemory } from "../../../kernel/calls/open-agent-memory.ts";
import type { Blobs } from "../../../kernel/faces/log.ts";
import type { AgentMemory } from "../../../kernel/faces/memory.ts";
import {
  type EntryId,
  type Kernel,
  type MemoryScope,
  type MessageInput,
  parseEntryId,
  type Session,
} from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/bounded-map.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import type { KeyedMessages, ThreadCandidate, ThreadKind } from "../identity/choose-thread.ts";
import { replaceOpening } from "../identity/conversation-keys.ts";
import type { RequestMessage, RequestMessages } from "../request/request-messages.ts";
import { createThreadWindows, type ThreadWindows } from "./call-request.ts";
import { mergeRuns } from "./logged-replies.ts";
import { SentRequests } from "./sent-requests.ts";
import { ThreadMessages } from "./thread-messages.ts";
import { ThreadMarks, type ThreadMeta } from "./thread-meta.ts";

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
    return {
      ...{
        id: this.session.id,
        keys: own.keys,
        roles: own.roles,
        shape: meta.shape,
        kind,
        agent: meta.agent,
      },
      ...progress.describe(roles, messages.at(-1)?.seq),
      isAbandoned,
      // Another request may reserve the thread while others are described.
      get isInFlight() {
        return progress.inFlight > 0;
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
  /** Number of unfinished requests. */
  inFlight = 0;
  /** Number of messages of the last request. */
  requestLength = 0;
  #wasDelivered = true;
  #brokenLength: number | undefined;
  /** Seq of the last message that this process has written; a newer one on the line is another gateway's. */
  #ownSeq = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Counts a request that is about to begin, so that concurrent ones see it. */
  reserve(): void {
    this.inFlight++;
  }

  /** Records a request whose reply is pending. */
  recordRequest({ list }: RequestMessages): void {
    const { length } = list.filter(({ isWithNext }) => !isWithNext);
    const isAgain = !this.#wasDelivered && length >= this.requestLength;
    this.#brokenLength = isAgain ? (this.#brokenLength ?? this.requestLength) : undefined;
    this.requestLength = length;
    this.#wasDelivered = false;
  }

  /** Records the end of a request. */
  recordEnd(wasDelivered: boolean): void {
    this.inFlight--;
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
  ): Pick<ThreadCandidate, "lastRequestLength" | "lastReplyWasDelivered" | "brokenLength"> {
    if (this.inFlight === 0 && this.#ownSeq > 0 && lastSeq > this.#ownSeq) this.#forget();
    // A line that another process left without a reply awaits a repetition of the same request.
    const isLeftUnanswered = this.requestLength === 0 && roles.length > 0 && roles.at(-1) !== "assistant";
    return {
      lastRequestLength: isLeftUnanswered ? roles.length : this.requestLength,
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
