import type { SharedV4ProviderOptions } from "@ai-sdk/provider";

/**
 * A message of the AI SDK: a ModelMessage, or a message of the prompt passed to a model. Declares only the fields that
 * both have in common.
 */
export interface SdkMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly SdkMessagePart[];
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
}

/** A part of an `SdkMessage`. */
export interface SdkMessagePart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Bookkeeping parts that a provider's client adds to a response; they are not content. */
const BOOKKEEPING: readonly unknown[] = ["anthropic.message_start"];

/** The content parts of a message, without bookkeeping. */
export function listSdkParts({ content }: SdkMessage): readonly SdkMessagePart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.filter(({ type, kind }) => type !== "custom" || !BOOKKEEPING.includes(kind));
}
