import { countCommonPrefix } from "../../conversation/align-messages.ts";
import { type EntryId, textOfMessage } from "../../index.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import { compareToThread } from "../identity/likeness.ts";
import type { Thread } from "./thread.ts";

/** Number of conversations to compare, most recently used first. */
const MAX_COMPARED = 32;
/** The first user message is among this many messages. */
const FIRST_MESSAGES = 8;
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

/** True if a request contains the whole conversation, so that no summary replaces it. */
export async function isRepeatedInFull(thread: Thread, keys: readonly string[]): Promise<boolean> {
  return (await thread.line()).every(({ key }, index) => key === keys[index]);
}
