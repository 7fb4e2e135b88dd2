import { countCommonPrefix } from "../../conversation/align-messages.ts";
import { Conversation } from "../../conversation/conversation.ts";
import { type EntryId, type Kernel, type Session, type SessionId, textOfMessage } from "../../index.ts";
import { type AgentShape, isSameShape } from "../identity/agent-shape.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import { compareToThread, type KeyedMessages } from "../identity/choose-thread.ts";
import { isOwnSession, listSessionPrefixes, type PersonIds } from "../identity/person-ids.ts";
import type { Thread } from "../thread/thread.ts";
import { parseThreadMeta, type ThreadMeta } from "../thread/thread-meta.ts";
import type { ThreadLookup } from "./decide-thread.ts";
import { type FamilyRoots, parseRedirect } from "./family-roots.ts";

const MAX_CHILDREN = 100;
/** Number of stored sessions with the same beginning to search for a reply, newest first. */
const MAX_SEARCHED = 1_000;
const PAGE_RECORDS = 100;
/** Number of conversations to open that end with the same reply. */
const MAX_FOUND = 32;
/** The last reply that a client has is among this many messages at the end of its conversation. */
const LAST_MESSAGES = 6;

/** A stored conversation. */
interface StoredThread {
  readonly session: Session;
  readonly meta: ThreadMeta;
}

/** Opens the stored conversation with an id; undefined if there is none. */
export async function openStoredThread(kernel: Kernel, id: SessionId): Promise<StoredThread | undefined> {
  const meta = parseThreadMeta((await kernel.find(id))?.meta);
  return meta && { session: await kernel.session(id), meta };
}

/** The stored conversations to open. */
interface StoredSearch {
  readonly firstKey: string;
  /** True if others may have begun secondary conversations of roots that are open here. */
  readonly isShared: boolean;
  readonly isKnown: (id: SessionId) => boolean;
}

/** Opens the newest stored conversations of a family that begin with this message, except the known ones. */
export async function openStoredThreads(
  kernel: Kernel,
  roots: FamilyRoots,
  { firstKey, isShared, isKnown }: StoredSearch,
): Promise<readonly StoredThread[]> {
  const opened = await roots.openStored();
  const found: StoredThread[] = [];
  for (const root of isShared ? roots.sessions : opened) {
    if (!isKnown(root.id)) {
      const { meta: stored } = await root.record();
      const meta = parseThreadMeta(stored);
      const elsewhere = parseRedirect(stored);
      const target = elsewhere !== undefined && !isKnown(elsewhere) ? elsewhere : undefined;
      const redirected = target === undefined ? undefined : await openStoredThread(kernel, target);
      if (meta) found.push({ session: root, meta });
      else if (redirected) found.push(redirected);
    }
    for (const { id, meta: stored } of await root.children({ limit: MAX_CHILDREN })) {
      const meta = parseThreadMeta(stored);
      // A fork under an id of its own is another family.
      const isOwn = id.startsWith(`${root.id}/`);
      if (isOwn && meta?.firstKey === firstKey && !isKnown(id))
        found.push({ session: await kernel.session(id), meta });
    }
  }
  return found;
}

/** Opens the stored conversations whose ids have one of the prefixes and that end with a reply, newest first. */
export async function openThreadsWithReply(
  kernel: Kernel,
  prefixes: readonly string[],
  reply: string,
  isKnown: (id: SessionId) => boolean,
): Promise<readonly StoredThread[]> {
  const found: StoredThread[] = [];
  for (const prefix of prefixes) {
    let before: SessionId | undefined;
    for (let searched = 0; searched < MAX_SEARCHED; searched += PAGE_RECORDS) {
      const page = { prefix, limit: PAGE_RECORDS, ...(before !== undefined && { before }) };
      const records = await kernel.sessions(page);
      for (const { id, meta: stored } of records) {
        const meta = parseThreadMeta(stored);
        if (!meta || isKnown(id) || !(await endsWithReply(kernel, id, reply))) continue;
        found.push({ session: await kernel.session(id), meta });
        if (found.length === MAX_FOUND) return found;
      }
      before = records.at(-1)?.id;
      if (records.length < PAGE_RECORDS) break;
    }
  }
  return found;
}

/** True if a reply with this key is among the last messages of a stored conversation. */
async function endsWithReply(kernel: Kernel, id: SessionId, reply: string): Promise<boolean> {
  const session = await kernel.session(id);
  const { entries } = await session.page({ kinds: ["message"], limit: LAST_MESSAGES });
  await session.close();
  return entries.some((entry) => entry.kind === "message" && getMessageKey(entry.message) === reply);
}

/** Number of conversations to compare, most recently used first. */
const MAX_COMPARED = 32;
/** The first user message is among this many messages. */
const FIRST_MESSAGES = 8;
/** Number of a person's newest sessions among which the origin of a copied conversation is searched. */
const MAX_ORIGINS = 1_000;
/** Number of them whose last messages are read, because their client has summarized or trimmed the beginning. */
const MAX_READ_ENDS = 100;
/** Shorter texts could belong to any conversation. */
const MIN_LENGTH = 12;

/** The conversation that a request for a summary quotes: its first user message occurs in the text. */
export async function findQuotedThread(
  threads: readonly Thread[],
  words: string,
): Promise<Thread | undefined> {
  for (const thread of threads.slice(0, MAX_COMPARED)) {
    const first = await thread.session.read({ from: 1, limit: FIRST_MESSAGES, kinds: ["message"] });
    const isQuoted = first.some((entry) => {
      if (entry.kind !== "message" || entry.message.role !== "user") return false;
      const text = textOfMessage(entry.message).trim();
      return text.length >= MIN_LENGTH && words.includes(text);
    });
    if (isQuoted) return thread;
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

/** The main conversation that shares the longest beginning with a request for a summary, and the last shared entry. */
export async function findClosestThread(
  threads: readonly Thread[],
  keys: readonly string[],
): Promise<{ readonly thread: Thread; readonly last: EntryId } | undefined> {
  let best: { readonly thread: Thread; readonly last: EntryId; readonly same: number } | undefined;
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
export async function findForkOrigin(
  kernel: Kernel,
  { caller, keys, roles, firstKey }: ThreadLookup,
): Promise<ForkOrigin | undefined> {
  const lastReply = roles.lastIndexOf("assistant");
  const reply = keys[lastReply];
  if (reply === undefined) return undefined;
  let compared = 0;
  for (const prefix of listSessionPrefixes(caller.principal)) {
    const records = await kernel.sessions({ prefix, limit: MAX_ORIGINS });
    for (const [index, { id, meta: stored, title }] of records.entries()) {
      const meta = parseThreadMeta(stored);
      if (meta?.kind !== "main") continue;
      const isAlike = meta.firstKey === firstKey;
      if (!isAlike && (index >= MAX_READ_ENDS || !(await endsWithReply(kernel, id, reply)))) continue;
      if (++compared > MAX_COMPARED) return undefined;
      await using session = await kernel.session(id);
      const line = await new Conversation(session, getMessageKey).readLine();
      const last = line.messages[lastReply]?.id;
      if (last === undefined || countCommonPrefix(line.keys, keys) <= lastReply) continue;
      const entry = await session.entry(last);
      if (entry?.kind === "message" && entry.message.model !== undefined)
        return { session: id, meta, title, last };
    }
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
}

/** Maximum number of conversations with the same ending to compare. */
const MAX_COMPARED_ENDS = 32;
/** Maximum number of stored sessions to inspect, latest first. */
const MAX_STORED = 100;

/** The key of the last reply in a request. */
export function getLastReplyKey({ keys, roles }: KeyedMessages): string | undefined {
  return keys[roles.lastIndexOf("assistant")];
}

/** The conversation whose end a request contains, among threads sorted by last use. */
export async function findTrimmedThread(
  threads: readonly Thread[],
  request: TrimmedRequest,
): Promise<Thread | undefined> {
  const reply = getLastReplyKey(request);
  const ending = threads.filter(
    (thread) =>
      reply !== undefined &&
      thread.messages.hasReplied(reply) &&
      isSameShape(thread.meta.shape, request.shape),
  );
  let best: { readonly thread: Thread; readonly same: number } | undefined;
  for (const thread of ending.slice(0, MAX_COMPARED_ENDS)) {
    const { isNext, isAnotherEnd, same } = compareToThread(
      await thread.describeCandidate({ explicit: undefined, opening: undefined, request }),
      request,
    );
    if ((isNext || isAnotherEnd) && same > (best?.same ?? 0)) best = { thread, same };
  }
  return best?.thread;
}

/** First keys of a principal's stored conversations, without ids, whose end a request may contain. */
export async function listStoredOpenings(
  kernel: Kernel,
  principal: PersonIds,
  request: TrimmedRequest,
): Promise<readonly string[]> {
  const reply = getLastReplyKey(request);
  const openings = new Set<string>();
  for (const { id, meta } of await kernel.sessions({ limit: MAX_STORED })) {
    const mark = parseThreadMeta(meta);
    const isOwn = mark?.kind === "main" && isOwnSession(principal, id);
    // Sessions with explicit ids are named after them and found by them.
    if (!isOwn || !id.includes(`:${mark.firstKey.slice(0, 16)}`)) continue;
    if (!isSameShape(mark.shape, request.shape)) continue;
    if (reply !== undefined && (await endsWithReply(kernel, id, reply))) openings.add(mark.firstKey);
  }
  return [...openings];
}
