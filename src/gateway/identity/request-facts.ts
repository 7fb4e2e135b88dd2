import type { MessageInput } from "../../index.ts";

/** Facts of a request that are known before its conversation is looked up. */
export interface RequestFacts {
  /** The system prompt. */
  readonly lead: string;
  /** The name of the client. */
  readonly client?: string;
  /** The working directory that the system prompt states. */
  readonly project?: string;
  readonly toolNames: readonly string[];
  readonly messages: readonly MessageInput[];
  /** Maximum tokens of the reply, under any API's name for it. */
  readonly maxTokens?: number;
  readonly isStreamed?: boolean;
  /** True if the reply must be JSON of a given form. */
  readonly hasOutputFormat?: boolean;
  /** The purpose found by `findExplicitId`. */
  readonly purpose?: string;
  /** True if the same client has a conversation with tools under the same id. */
  readonly hasMainConversation?: boolean;
  /** The conversation whose messages the request repeats, if one is known. */
  readonly known?: KnownConversation;
}

/** Features of a known conversation, compared with a request that repeats its messages. */
export interface KnownConversation {
  readonly hasTools: boolean;
  readonly hasSameLead: boolean;
}

/** The texts of a message, without tool results. */
export function getMessageText(message: MessageInput | undefined): string {
  if (!message) return "";
  const texts = (message.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [...(message.text === undefined ? [] : [message.text]), ...texts].join("\n\n");
}

/**
 * The text of the last message that is not the model's. System messages after it belong to the same instruction and are
 * skipped.
 */
export function getLastUserText(messages: readonly MessageInput[]): string {
  const last = messages.findLast(({ role }) => role !== "system") ?? messages.at(-1);
  return last?.role === "assistant" ? "" : getMessageText(last);
}
