import { type MessageInput, parseEntryId, type Session } from "../../index.ts";
import { findSummaryIndex, hasSummary } from "../identity/find-summary.ts";
import type { Thread } from "../thread/thread.ts";

const MAX_SUMMARIES = 4;
/** Shorter replies are not summaries of a conversation. */
const MIN_REPLY = 100;
/** Longer replies are not searched for in later requests. */
const MAX_REPLY = 200_000;

/** The summaries that clients have made of the conversations of one family, until they continue with them. */
export class ClientSummaries {
  #summaries: readonly ClientSummary[] = [];
  #lastReply: ClientSummary | undefined;

  /** Adds a reply that is a summary. */
  add(summary: ClientSummary): void {
    this.#summaries = [summary, ...this.#summaries].slice(0, MAX_SUMMARIES);
  }

  /** Keeps the last reply of a conversation, because the next request may show that it was a summary. */
  addReply(reply: ClientSummary): void {
    const { length } = reply.text;
    this.#lastReply = length >= MIN_REPLY && length <= MAX_REPLY ? reply : undefined;
  }

  /** The summary that a request with this opening continues from; none if several conversations have it. */
  find(opening: () => readonly MessageInput[]): ClientSummary | undefined {
    const [first, ...others] = this.#summaries.filter(({ text }) => hasSummary(text, opening()));
    return others.every(({ thread }) => thread === first?.thread) ? first : undefined;
  }

  /** The last reply of a conversation, if a restarted conversation contains it in a message that is not the model's. */
  findReply(thread: Thread, opening: () => readonly MessageInput[]): ClientSummary | undefined {
    if (this.#lastReply?.thread !== thread) return undefined;
    const messages = opening();
    const index = findSummaryIndex(this.#lastReply.text, messages);
    return index !== undefined && messages[index]?.role !== "assistant" ? this.#lastReply : undefined;
  }

  /** True if a client may continue with a summary of this thread. */
  isOf(thread: Thread): boolean {
    return this.#lastReply?.thread === thread || this.#summaries.some((summary) => summary.thread === thread);
  }

  /** Links a summary to the conversation that it replaces, now that the client continues with it. */
  async link(summary: ClientSummary, client: string): Promise<void> {
    this.#summaries = this.#summaries.filter(({ thread }) => thread !== summary.thread);
    this.#lastReply = undefined;
    await linkSummary(summary, client);
  }
}

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
async function linkSummary({ text, thread }: ClientSummary, client: string): Promise<void> {
  const { session } = thread;
  const line = (await thread.conversation.readLineInTurn()).messages;
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
