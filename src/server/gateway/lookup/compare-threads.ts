import { countCommonPrefix } from "../../../kernel/calls/align-messages.ts";
import { Conversation } from "../../../kernel/calls/conversation.ts";
import {
  type EntryId,
  type Kernel,
  type MessageInput,
  type Role,
  type SessionId,
  textOfMessage,
} from "../../../kernel/index.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import { chooseThread, compareToThread, type KeyedMessages } from "../identity/choose-thread.ts";
import { type CallerIdentity, isUnnamed, type PlaceKeys } from "../identity/conversation-keys.ts";
import { listOwnSessions, listSessionPrefixes } from "../identity/person-ids.ts";
import { type AgentShape, isSameShape, type RequestFacts } from "../identity/request-kind.ts";
import { parseThreadMeta, type Thread, type ThreadMeta } from "../thread/thread.ts";

/** Facts of a request that are known before its thread. */
export interface ThreadLookup {
  readonly caller: CallerIdentity;
  readonly shape: AgentShape;
  /** The keys under which its messages are found in the store. */
  readonly places: PlaceKeys;
  /** Keys of the messages. */
  readonly keys: readonly string[];
  /** The key by which conversations with the same beginning are looked up. */
  readonly firstKey: string;
  readonly roles: readonly Role[];
  /** The messages as they are compared with threads: without an id from the client, the first one by its opening. */
  readonly compared: KeyedMessages;
  /** Messages between the first and the last few may be empty. */
  readonly facts: RequestFacts;
  /** The first few messages; parsed only when a summary is searched for. */
  readonly opening: () => readonly MessageInput[];
  /** True if it continues the only conversation of its id, regardless of its messages. */
  readonly isMain: boolean;
}

/** Number of conversations to compare, most recently used first. */
const MAX_COMPARED = 32;
/** Sessions of a person, the newest first, among which a quoted conversation is looked for. */
const MAX_NEWEST = 100;
/** The first user message is among this many messages. */
const FIRST_MESSAGES = 8;
/** Shorter texts could belong to any conversation. */
const MIN_LENGTH = 12;

/**
 * The conversation without an id that a request for a summary quotes, among the person's newest: its first user message
 * occurs in the text.
 */
export async function findQuotedConversation(
  kernel: Pick<Kernel, "session" | "sessions">,
  { principal }: CallerIdentity,
  words: string,
): Promise<SessionId | undefined> {
  for (const { id, meta } of await listOwnSessions(kernel, listSessionPrefixes(principal), {
    limit: MAX_NEWEST,
  })) {
    if (parseThreadMeta(meta)?.kind !== "main" || !isUnnamed(id)) continue;
    await using session = await kernel.session(id);
    const first = await session.read({ from: 1, limit: FIRST_MESSAGES, kinds: ["message"] });
    const isQuoted = first.some((entry) => {
      if (entry.kind !== "message" || entry.message.role !== "user") return false;
      const text = textOfMessage(entry.message).trim();
      return text.length >= MIN_LENGTH && words.includes(text);
    });
    if (isQuoted) return id;
  }
  return undefined;
}

/** The conversation whose end a request repeats after a summary. */
export async function findRepeatedThread(
  threads: readonly Thread[],
  request: KeyedMessages,
): Promise<Thread | undefined> {
  let best: { readonly thread: Thread; readonly same: number } | undefined;
  for (const thread of threads.slice(0, MAX_COMPARED)) {
    const candidate = await thread.describeCandidate({ explicit: undefined, opening: undefined, request });
    const { isNext, same } = compareToThread(candidate, request);
    if (isNext && !candidate.isInFlight && same > (best?.same ?? 0)) best = { thread, same };
  }
  return best?.thread;
}

/** A main conversation that shares its beginning with a request. */
export interface ClosestThread {
  readonly thread: Thread;
  /** The last shared entry. */
  readonly last: EntryId;
}

/** The main conversation that shares the longest beginning with a request. */
export async function findClosestThread(
  threads: readonly Thread[],
  keys: readonly string[],
): Promise<ClosestThread | undefined> {
  let best: (ClosestThread & { readonly same: number }) | undefined;
  for (const thread of threads.filter(({ kind }) => kind === "main")) {
    const line = (await thread.conversation.readLineInTurn()).messages;
    const same = countCommonPrefix(
      line.map(({ key }) => key),
      keys,
    );
    const last = line[same - 1]?.id;
    if (last !== undefined && same > (best?.same ?? 0)) best = { thread, last, same };
  }
  return best;
}

/** The place in another conversation that a new one continues. */
interface ForkOrigin {
  readonly session: SessionId;
  readonly meta: ThreadMeta;
  readonly title: string | undefined;
  /** The last shared entry. */
  readonly last: EntryId;
}

/**
 * The stored conversation of the same person that the first request of a new id has copied, up to a reply which this
 * gateway has relayed: clients give a fork of a conversation its own id. Replies that the client wrote itself, such as
 * the examples of a prompt, make no fork.
 */
export async function findForkOrigin(kernel: Kernel, request: ThreadLookup): Promise<ForkOrigin | undefined> {
  const { keys, roles } = request;
  const places = await kernel.places.find(request.places.findPersonPaths(), MAX_COMPARED);
  for (const { session: id } of places) {
    const record = await kernel.find(id);
    const meta = parseThreadMeta(record?.meta);
    if (meta?.kind !== "main") continue;
    await using session = await kernel.session(id);
    const line = await new Conversation(session, getMessageKey).readLineInTurn(request);
    // The copied reply may have been taken back since, or repeated.
    const lastReply = roles.slice(0, countCommonPrefix(line.keys, keys)).lastIndexOf("assistant");
    const last = line.messages[lastReply]?.id;
    if (last === undefined) continue;
    const entry = await session.entry(last);
    if (entry?.kind === "message" && entry.message.model !== undefined)
      return { session: id, meta, title: record?.title, last };
  }
  return undefined;
}

/** True if a request contains the whole conversation, so that no summary replaces it. */
export async function isRepeatedInFull(thread: Thread, keys: readonly string[]): Promise<boolean> {
  return (await thread.conversation.readLineInTurn()).messages.every(({ key }, index) => key === keys[index]);
}

/** A request that may continue a conversation without containing its beginning. */
interface TrimmedRequest extends KeyedMessages {
  readonly shape: AgentShape;
  readonly agent: string | undefined;
}

/** Reserves the conversation whose end a request contains, among threads with its last reply; undefined if none fits. */
export async function reserveTrimmedThread(
  threads: readonly Thread[],
  request: TrimmedRequest,
): Promise<Thread | undefined> {
  const ending = threads.filter(
    ({ kind, meta }) => kind === "main" && isSameShape(meta.shape, request.shape),
  );
  const lookup = { explicit: undefined, opening: undefined, request };
  const candidates = await Promise.all(ending.map((thread) => thread.describeCandidate(lookup)));
  const compared = candidates.map((thread) => ({ thread, like: compareToThread(thread, request) }));
  if (!compared.some(({ like }) => like.isNext || like.isAnotherEnd)) return undefined;
  // All of them are compared: of those that have gone on from the same place, none is rewound.
  const choice = chooseThread(compared, request, "main");
  const chosen =
    choice.type === "continue" ? ending.find(({ session }) => session.id === choice.id) : undefined;
  chosen?.progress.reserve();
  return chosen;
}
