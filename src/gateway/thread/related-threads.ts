import { countCommonPrefix } from "../../conversation/align-messages.ts";
import { Conversation } from "../../conversation/conversation.ts";
import { type EntryId, type Kernel, type SessionId, textOfMessage } from "../../index.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import { compareToThread } from "../identity/likeness.ts";
import { getMessageKey } from "../identity/message-key.ts";
import { listSessionPrefixes } from "../identity/person-ids.ts";
import { endsWithReply } from "./stored-threads.ts";
import type { Thread } from "./thread.ts";
import type { ThreadLookup } from "./thread-lookup.ts";
import { parseThreadMeta, type ThreadMeta } from "./thread-meta.ts";

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
    const line = await thread.line();
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
  return (await thread.line()).every(({ key }, index) => key === keys[index]);
}
