import type { WindowOptions } from "../../kernel/faces/window.ts";
import { checkFields, checkList } from "../../model/argument-checks.ts";
import { fitForeignMessages } from "./fit-foreign-messages.ts";
import type { ForeignMessage } from "./foreign-message.ts";

/**
 * Fits a conversation into a model's window without storing anything. Accepts our own messages, ModelMessages of the AI
 * SDK, messages of OpenAI Chat Completions and Anthropic, and items of OpenAI Responses, and returns the same format,
 * with the same objects for unchanged messages. Leading system messages stay. If only clipping the newest question
 * would make the conversation fit, returns it unchanged, unless `oversize` is "error". As the conversation grows, the
 * beginning of the result stays the same.
 */
export async function fitMessages<T extends object>(
  messages: readonly T[],
  options: WindowOptions,
): Promise<readonly T[]> {
  checkList("messages", messages);
  checkFields("options", options);
  const fit = await fitForeignMessages(messages as unknown as readonly ForeignMessage[], options);
  return fit.messages as unknown as readonly T[];
}
