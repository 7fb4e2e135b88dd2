import type { MessageInput } from "../../index.ts";
import { findSummaryIndex, hasSummary } from "../identity/find-summary.ts";
import { type ClientSummary, linkSummary } from "./client-summary.ts";
import type { Thread } from "./thread.ts";

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

  /** The summary that a request with this opening continues from. */
  find(opening: () => readonly MessageInput[]): ClientSummary | undefined {
    return this.#summaries.find(({ text }) => hasSummary(text, opening()));
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
