import { parseEntryId, type Session } from "../../index.ts";
import type { Thread } from "./thread.ts";

/** A client's own summary of a conversation, with which the client continues. */
export interface ClientSummary {
  readonly text: string;
  /** The summarized conversation. */
  readonly thread: Thread;
}

/**
 * Records the messages that a client's own summary replaces: adds an overlay on the old line, so that `expand` restores
 * everything, and a note for people. The overlay is reverted at once, because a client that returns to the old line
 * sends the messages it wants.
 */
export async function linkSummary({ text, thread }: ClientSummary, client: string): Promise<void> {
  const { session } = thread;
  const line = await thread.line();
  const [first, last] = [line[0], line.at(-1)].map((message) => message && parseEntryId(message.id));
  if (!first || !last) return;
  const ranges =
    first.session === last.session
      ? [{ session: first.session, from: first.seq, to: last.seq }]
      : [{ session: session.id, from: 1, to: last.seq }];
  const { seq } = await session.overlays.add(
    { type: "summarize", ranges, messages: [{ role: "user", text }] },
    "the client compacted its conversation",
    client,
  );
  await session.overlays.revert(seq);
  await noteSummary(session, client, line.length, seq);
  thread.conversation.recordCompaction();
}

async function noteSummary(
  session: Session,
  client: string,
  messageCount: number,
  seq: number,
): Promise<void> {
  await session.note(
    `${client} compacted ${messageCount} messages by itself and goes on with its summary; expand #${seq} to read them.`,
  );
}
