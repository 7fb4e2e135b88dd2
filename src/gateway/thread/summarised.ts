import { samePrefix } from "../../conversation/align.ts";
import { type EntryId, textOfMessage } from "../../index.ts";
import type { Said } from "../identity/align-request.ts";
import { likenessOf } from "../identity/likeness.ts";
import type { Thread } from "./thread.ts";

/** Conversations that are looked at, those used last first. */
const MOST_LOOKED = 32;
/** Its first request for help is among so many messages. */
const FIRST_MESSAGES = 8;
/** Shorter words could be anybody's. */
const LEAST_LENGTH = 12;

/** The conversation that a request for a summary quotes: what it began with stands in these words. */
export async function quotedThread(threads: readonly Thread[], words: string): Promise<Thread | undefined> {
  for (const thread of threads.slice(0, MOST_LOOKED)) {
    const first = await thread.session.read({ from: 1, limit: FIRST_MESSAGES, kinds: ["message"] });
    const isQuoted = first.some((entry) => {
      if (entry.kind !== "message" || entry.message.role !== "user") return false;
      const said = textOfMessage(entry.message).trim();
      return said.length >= LEAST_LENGTH && words.includes(said);
    });
    if (isQuoted) return thread;
  }
  return undefined;
}

/** The conversation whose end a request repeats behind a summary. */
export async function repeatedThread(threads: readonly Thread[], request: Said): Promise<Thread | undefined> {
  let best: { readonly thread: Thread; readonly same: number } | undefined;
  for (const thread of threads.slice(0, MOST_LOOKED)) {
    const candidate = await thread.candidate(undefined, undefined, request);
    const { isNext, same } = likenessOf(candidate, request);
    if (isNext && !candidate.isInFlight && same > (best?.same ?? 0)) best = { thread, same };
  }
  return best?.thread;
}

/** The main conversation that says most of what a request for a summary says, and the last entry of that. */
export async function closestThread(
  threads: readonly Thread[],
  keys: readonly string[],
): Promise<{ readonly thread: Thread; readonly last: EntryId } | undefined> {
  let best: { readonly thread: Thread; readonly last: EntryId; readonly same: number } | undefined;
  for (const thread of threads.filter(({ kind }) => kind === "main")) {
    const line = await thread.line();
    const same = samePrefix(
      line.map(({ key }) => key),
      keys,
    );
    const last = line[same - 1]?.id;
    if (last !== undefined && same > (best?.same ?? 0)) best = { thread, last, same };
  }
  return best;
}

/** True if a request says all that a conversation says: then no summary stands in its place. */
export async function isStillSaid(thread: Thread, keys: readonly string[]): Promise<boolean> {
  return (await thread.line()).every(({ key }, index) => key === keys[index]);
}
