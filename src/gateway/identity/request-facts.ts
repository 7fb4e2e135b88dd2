import type { MessageInput } from "../../index.ts";

/** What is known of a request before anybody looks for its conversation. */
export interface RequestFacts {
  /** Its system prompt. */
  readonly lead: string;
  readonly toolNames: readonly string[];
  readonly messages: readonly MessageInput[];
  /** Most tokens of the reply, under whatever name the API has for it. */
  readonly maxTokens?: number;
  readonly isStreamed?: boolean;
  /** True if the reply must be JSON of a given form. */
  readonly hasOutputFormat?: boolean;
  /** From `explicitIdOf`. */
  readonly purpose?: string;
  /** True if the same client has a conversation with tools under the same id. */
  readonly isBesideMain?: boolean;
  /** The conversation whose messages it repeats, if one is known. */
  readonly known?: KnownConversation;
}

/** How the requests of a known conversation look, compared with one that repeats its messages. */
export interface KnownConversation {
  readonly hasTools: boolean;
  readonly hasSameLead: boolean;
}

/** The words of a message: its texts, without what tools answered. */
export function wordsOf(message: MessageInput | undefined): string {
  if (!message) return "";
  const texts = (message.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [...(message.text === undefined ? [] : [message.text]), ...texts].join("\n\n");
}

/** The last words that somebody other than the model said; what belongs to the instruction may follow it as system. */
export function lastWords(messages: readonly MessageInput[]): string {
  const last = messages.findLast(({ role }) => role !== "system") ?? messages.at(-1);
  return last?.role === "assistant" ? "" : wordsOf(last);
}
