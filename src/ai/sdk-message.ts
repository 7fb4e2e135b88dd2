import type { SharedV4ProviderOptions } from "@ai-sdk/provider";

/**
 * A message as the AI SDK has it: a ModelMessage, or one of the prompt that it hands to a model. What their parts have in
 * common is enough for us.
 */
export interface SdkMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly SdkPart[];
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
}

/** A part of one. */
export interface SdkPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Notes of a provider's client about a response; nobody says or needs them. */
const BOOKKEEPING: readonly unknown[] = ["anthropic.message_start"];

/** The parts of a message's content that were said. */
export function partsOf({ content }: SdkMessage): readonly SdkPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.filter(({ type, kind }) => type !== "custom" || !BOOKKEEPING.includes(kind));
}
