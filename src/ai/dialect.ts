import { contentOfBlocks } from "../formats/content/anthropic-blocks.ts";
import { arrayOf, objectOf } from "../formats/content/fields.ts";
import { messageOfChat } from "../formats/content/openai-chat-message.ts";
import { LonghaulError, type MessageInput, type PartInput } from "../index.ts";
import { messageOfSdk } from "./from-sdk.ts";
import type { SdkMessage } from "./sdk-message.ts";

/** A message in a foreign format; nothing is known about it except that it is an object. */
export type ForeignMessage = { readonly [field: string]: unknown };

/** The format of a caller's messages. */
export type DialectName = "longhaul" | "ai-sdk" | "openai-chat" | "anthropic";

const CHAT_FIELDS = ["tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content"];
const CHAT_ROLES: readonly unknown[] = ["developer", "function"];
const CHAT_PARTS: readonly unknown[] = ["image_url", "input_audio"];
const BLOCKS: readonly unknown[] = ["tool_use", "tool_result", "thinking", "redacted_thinking", "document"];
const SDK_PARTS: readonly unknown[] = ["tool-call", "tool-result", "reasoning", "reasoning-file", "custom"];

/** Detects a format by features that only it has. Plain text looks the same in all formats. */
export function dialectOf(messages: readonly ForeignMessage[]): DialectName {
  for (const message of messages) {
    if (Array.isArray(message.parts)) return ownParts(message.parts);
    if (message.providerOptions !== undefined) return "ai-sdk";
    if (CHAT_ROLES.includes(message.role) || CHAT_FIELDS.some((field) => message[field] !== undefined))
      return "openai-chat";
    for (const value of arrayOf(message.content)) {
      const part = objectOf(value);
      if (CHAT_PARTS.includes(part?.type) || objectOf(part?.file)) return "openai-chat";
      if (BLOCKS.includes(part?.type) || objectOf(part?.source)) return "anthropic";
      if (SDK_PARTS.includes(part?.type) || part?.image !== undefined || part?.mediaType !== undefined)
        return "ai-sdk";
    }
  }
  return "openai-chat";
}

/** Converts a message of a foreign format to ours. */
export function messageOf(message: ForeignMessage, dialect: DialectName): MessageInput {
  switch (dialect) {
    case "longhaul":
      return message as unknown as MessageInput;
    case "ai-sdk":
      return messageOfSdk(message as unknown as SdkMessage);
    case "openai-chat":
      return messageOfChat(message, "call") ?? unanswered(message);
    case "anthropic": {
      const { parts, extras } = contentOfBlocks(message.content, dialect);
      return { role: roleOf(message.role, parts), parts, ...(extras && { meta: { [dialect]: { extras } } }) };
    }
  }
}

const PARTS: readonly unknown[] = ["text", "reasoning", "tool-call", "tool-result", "blob", "data", "raw"];

/** Distinguishes our parts from those of UIMessages of the AI SDK, which it rejects. */
function ownParts(parts: readonly unknown[]): DialectName {
  const strange = parts.map((part) => objectOf(part)?.type).find((type) => !PARTS.includes(type));
  if (strange === undefined) return "longhaul";
  throw new LonghaulError(
    "ARGUMENT_INVALID",
    `messages hold a part of type ${JSON.stringify(strange)}; convert UIMessages with convertToModelMessages first.`,
  );
}

/** Importers drop placeholder results; here they have to stay after their call. */
function unanswered({ tool_call_id: callId, content }: ForeignMessage): MessageInput {
  return { role: "tool", parts: [{ type: "tool-result", callId: String(callId), output: String(content) }] };
}

/** Anthropic sends tool results in the user role. */
function roleOf(role: unknown, parts: readonly PartInput[]): MessageInput["role"] {
  if (role === "assistant" || role === "system") return role;
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
