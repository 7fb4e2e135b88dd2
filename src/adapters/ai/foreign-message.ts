import { LonghaulError, type MessageInput, type PartInput } from "../../kernel/index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import { toArray, toObject } from "../../wire/fields.ts";
import { decodeChatMessage } from "../../wire/openai-chat/openai-chat-message.ts";
import { decodeSdkMessage } from "./decode-sdk-message.ts";
import type { SdkMessage } from "./sdk-message.ts";

/** A message in a foreign format; nothing is known about it except that it is an object. */
export type ForeignMessage = { readonly [field: string]: unknown };

/** The format of a caller's messages. */
export type MessageFormat = "longhaul" | "ai-sdk" | "openai-chat" | "anthropic";

const CHAT_FIELDS = ["tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content"];
const CHAT_ROLES: readonly unknown[] = ["developer", "function"];
const CHAT_PARTS: readonly unknown[] = ["image_url", "input_audio"];
const BLOCKS: readonly unknown[] = ["tool_use", "tool_result", "thinking", "redacted_thinking", "document"];
const SDK_PARTS: readonly unknown[] = ["tool-call", "tool-result", "reasoning", "reasoning-file", "custom"];

/** Detects a format by features that only it has. Plain text looks the same in all formats. */
export function detectMessageFormat(messages: readonly ForeignMessage[]): MessageFormat {
  for (const message of messages) {
    if (Array.isArray(message.parts)) return detectPartFormat(message.parts);
    if (message.providerOptions !== undefined) return "ai-sdk";
    if (CHAT_ROLES.includes(message.role) || CHAT_FIELDS.some((field) => message[field] !== undefined))
      return "openai-chat";
    for (const value of toArray(message.content)) {
      const part = toObject(value);
      if (CHAT_PARTS.includes(part?.type) || toObject(part?.file)) return "openai-chat";
      if (BLOCKS.includes(part?.type) || toObject(part?.source)) return "anthropic";
      if (SDK_PARTS.includes(part?.type) || part?.image !== undefined || part?.mediaType !== undefined)
        return "ai-sdk";
    }
  }
  return "openai-chat";
}

/** Converts a message of a foreign format to ours. */
export function decodeForeignMessage(message: ForeignMessage, dialect: MessageFormat): MessageInput {
  switch (dialect) {
    case "longhaul":
      return message as unknown as MessageInput;
    case "ai-sdk":
      return decodeSdkMessage(message as unknown as SdkMessage);
    case "openai-chat":
      return decodeChatMessage(message, "call") ?? toPlaceholderResult(message);
    case "anthropic": {
      const { parts, extras } = decodeAnthropicBlocks(message.content, dialect);
      return { role: toRole(message.role, parts), parts, ...(extras && { meta: { [dialect]: { extras } } }) };
    }
  }
}

const PARTS: readonly unknown[] = ["text", "reasoning", "tool-call", "tool-result", "blob", "data", "raw"];

/** Distinguishes our parts from those of UIMessages of the AI SDK, which it rejects. */
function detectPartFormat(parts: readonly unknown[]): MessageFormat {
  const strange = parts.map((part) => toObject(part)?.type).find((type) => !PARTS.includes(type));
  if (strange === undefined) return "longhaul";
  throw new LonghaulError(
    "ARGUMENT_INVALID",
    `messages hold a part of type ${JSON.stringify(strange)}; convert UIMessages with convertToModelMessages first.`,
  );
}

/** Importers drop placeholder results; here they have to stay after their call. */
function toPlaceholderResult({ tool_call_id: callId, content }: ForeignMessage): MessageInput {
  return { role: "tool", parts: [{ type: "tool-result", callId: String(callId), output: String(content) }] };
}

/** Anthropic sends tool results in the user role. */
function toRole(role: unknown, parts: readonly PartInput[]): MessageInput["role"] {
  if (role === "assistant" || role === "system") return role;
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
