import type { LineMessage } from "../../conversation/line-cache.ts";
import { type EntryId, parseEntryId, textOfMessage } from "../../index.ts";
import type { SeqRange } from "../../log-entry.ts";
import type { Thread } from "../thread/thread.ts";

const MAX_OVERLAYS = 1_000;

/**
 * Replaces the first messages of a thread by a client's summary; the messages stay in the log. Does so only once, even
 * if the summary was reverted. Returns the entry of the last replaced message. Must be called in the thread's turn.
 */
export async function summarizeBefore(
  { session, conversation }: Thread,
  text: string,
  messageCount: number,
): Promise<EntryId | undefined> {
  const line = (await conversation.readLine()).messages.slice(0, messageCount);
  const last = line.at(-1);
  if (!last) return undefined;
  const overlays = await session.overlays.list(MAX_OVERLAYS);
  const isThere = overlays.some(({ entry: { edit } }) => {
    const made = edit.type === "summarize" ? (edit.messages ?? []) : [];
    return made.some((message) => textOfMessage(message) === text);
  });
  if (!isThere)
    await session.overlays.add(
      { type: "summarize", ranges: toRanges(line), messages: [{ role: "user", text }] },
      "the client goes on from a summary that it was given elsewhere",
      "client",
    );
  return last.id;
}

/** Entries of consecutive messages as ranges; the first ones of a fork are in the log of another session. */
function toRanges(line: readonly LineMessage[]): readonly SeqRange[] {
  const ranges: SeqRange[] = [];
  for (const { id } of line) {
    const { session, seq } = parseEntryId(id);
    const range = ranges.at(-1);
    if (range?.session === session && range.to < seq)
      ranges[ranges.length - 1] = { session, from: range.from, to: seq };
    else ranges.push({ session, from: seq, to: seq });
  }
  return ranges;
}
