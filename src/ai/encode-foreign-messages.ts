import type { BlobPart, Message, Part, ToolResultPart } from "../index.ts";
import { encodeAnthropicBlocks } from "../wire/anthropic/anthropic-block-encode.ts";
import { toArray, toObject } from "../wire/fields.ts";
import { encodeChatContent } from "../wire/openai-chat/chat-content-encode.ts";
import { editedChatCall, newChatCall } from "../wire/openai-chat/openai-chat-calls.ts";
import type { PartSource } from "../wire/part-source.ts";
import { withErrorMark } from "../wire/result-marks.ts";
import { encodeSdkMessages, type MediaReader } from "./encode-sdk-messages.ts";
import type { ForeignMessage, MessageFormat } from "./foreign-message.ts";
import type { SdkMessage } from "./sdk-message.ts";

/** Input for writing a message of a window in a caller's format. */
interface ForeignEncodeOptions {
  readonly format: MessageFormat;
  /** The caller's message that it corresponds to; undefined for a note. */
  readonly own: { readonly foreign: ForeignMessage; readonly message: Message } | undefined;
  /** Tool names by call id. */
  readonly toolNames: ReadonlyMap<string, string>;
  readonly bytesOf: MediaReader;
}

/**
 * Converts a message of a window to a caller's format; text of a tool message that answers no call becomes a user
 * message.
 */
export async function encodeForeignMessages(
  message: Message,
  writing: ForeignEncodeOptions,
): Promise<readonly ForeignMessage[]> {
  const { format: dialect, own, toolNames, bytesOf } = writing;
  switch (dialect) {
    case "longhaul":
      return [message as unknown as ForeignMessage];
    case "ai-sdk": {
      const sdk = own && { sdk: own.foreign as unknown as SdkMessage, message: own.message };
      return (await encodeSdkMessages(
        message,
        sdk,
        toolNames,
        bytesOf,
      )) as unknown as readonly ForeignMessage[];
    }
    case "anthropic":
      return encodeAnthropicMessages(message, writing);
    case "openai-chat":
      return encodeChatMessages(message, writing);
  }
}

async function encodeAnthropicMessages(
  message: Message,
  { own, bytesOf }: ForeignEncodeOptions,
): Promise<readonly ForeignMessage[]> {
  const role = message.role === "tool" ? "user" : message.role;
  const isSame = own?.message.parts.length === message.parts.length;
  const blocks = await encodeAnthropicBlocks(message.parts, createMediaSource(bytesOf));
  // Extra fields of a block, such as cache markers, stay with it if the block is still the same.
  const ownBlocks = isSame ? toArray(own?.foreign.content) : [];
  const content = blocks.map((block, index) => {
    const given = toObject(ownBlocks[index]);
    return given?.type === block.type ? { ...given, ...block } : block;
  });
  const plain = content.length === 1 && content[0]?.type === "text" ? content[0].text : undefined;
  return content.length === 0 ? [] : [{ ...own?.foreign, role, content: plain ?? content }];
}

/** Fields of a message of OpenAI Chat that hold its reasoning. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"];

async function encodeChatMessages(
  message: Message,
  { own, bytesOf }: ForeignEncodeOptions,
): Promise<readonly ForeignMessage[]> {
  const source = createMediaSource(bytesOf);
  const said = message.parts.filter(({ type }) => type !== "tool-result" && type !== "tool-call");
  const content = await encodeChatContent(
    said.map((part) => ({ part })),
    source,
  );
  if (message.role === "assistant") {
    const calls = chatCalls(message.parts, own);
    if (content === undefined && Object.keys(calls).length === 0) return [];
    return [{ ...keptFields(message, own), role: "assistant", content: content ?? null, ...calls }];
  }
  const results = message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
  const messages: ForeignMessage[] = [];
  for (const part of results) {
    const output =
      (await encodeChatContent(
        part.output.map((piece) => ({ part: piece })),
        source,
      )) ?? "";
    const words = part.isError && typeof output === "string" ? withErrorMark(output) : output;
    const place = own?.foreign.role === "function" ? undefined : { role: "tool", tool_call_id: part.callId };
    messages.push({ ...own?.foreign, ...place, content: words });
  }
  const role = message.role === "tool" ? "user" : message.role;
  const { tool_call_id: __, ...rest } = own?.foreign ?? {};
  if (content !== undefined) messages.push({ ...rest, role, content });
  return messages;
}

/** The fields that hold the calls of a message; calls whose input is unchanged are the caller's own objects. */
function chatCalls(parts: readonly Part[], own: ForeignEncodeOptions["own"]): ForeignMessage {
  const legacy = toObject(own?.foreign.function_call);
  const ownCalls = toArray(own?.foreign.tool_calls).map(toObject);
  const calls: object[] = [];
  let legacyCall: object | undefined;
  for (const part of parts) {
    if (part.type !== "tool-call") continue;
    const given = ownCalls.find((call) => call?.id === part.callId);
    const isUnchanged = own?.message.parts.includes(part) === true;
    if (given) calls.push(isUnchanged ? given : editedChatCall(given, part));
    else if (legacy) legacyCall = isUnchanged ? legacy : editedChatCall(legacy, part);
    else calls.push(newChatCall(part));
  }
  return {
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(legacyCall && { function_call: legacyCall }),
  };
}

/** Fields of the caller's message that stay when it is rewritten: all except calls, and reasoning that was removed. */
function keptFields({ parts }: Message, own: ForeignEncodeOptions["own"]): ForeignMessage {
  const hasReasoning = parts.some(({ type }) => type === "reasoning");
  const gone = ["tool_calls", "function_call", ...(hasReasoning ? [] : REASONING_FIELDS)];
  return Object.fromEntries(Object.entries(own?.foreign ?? {}).filter(([field]) => !gone.includes(field)));
}

/** Provides the bytes that the caller passed. */
function createMediaSource(bytesOf: MediaReader): PartSource {
  return {
    base64: async (part: BlobPart) => Buffer.from((await bytesOf(part)) ?? []).toString("base64"),
    restore: async (part) => part,
  };
}
