import { alternateRoles, fitConversation, type Slot, type WindowOptions } from "../../kernel/faces/window.ts";
import {
  type BlobPart,
  isLonghaulError,
  type Message,
  type Part,
  type ToolResultPart,
  textOfMessage,
} from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { encodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-encode.ts";
import { toArray, toObject } from "../../wire/fields.ts";
import { encodeChatContent } from "../../wire/openai-chat/chat-content-encode.ts";
import { editedChatCall, newChatCall } from "../../wire/openai-chat/openai-chat-calls.ts";
import { openaiResponsesWire } from "../../wire/openai-responses/openai-responses-wire.ts";
import type { PartSource } from "../../wire/part-source.ts";
import { withErrorMark } from "../../wire/result-marks.ts";
import type { WireObject } from "../../wire/wire.ts";
import { addMissingResults } from "./build-prompt.ts";
import { encodeSdkMessages, type MediaReader } from "./encode-sdk-messages.ts";
import {
  decodeForeignMessage,
  detectMessageFormat,
  type ForeignMessage,
  type MessageFormat,
} from "./foreign-message.ts";
import {
  createRoleMerger,
  mergePromptRoles,
  type OutgoingMessage,
  type RoleMerger,
} from "./merge-prompt-roles.ts";
import type { SdkMessage } from "./sdk-message.ts";
import { type Media, toPlainMessage } from "./to-plain-message.ts";

/** Fits messages of a format, by default the one that they have. */
export async function fitForeignMessages(
  messages: readonly ForeignMessage[],
  options: WindowOptions,
  format?: FittedFormat,
): Promise<ForeignFit> {
  const isResponses = format === "openai-responses" || (format === undefined && isResponsesInput(messages));
  if (isResponses) return fitResponsesItems(messages, options, fitSlots);
  const dialect = format ?? detectMessageFormat(messages);
  const media: Media = new Map();
  const decoded = messages
    .map((own) => ({ foreign: own, message: toPlainMessage(decodeForeignMessage(own, dialect), media) }))
    .filter(({ message }) => message.role !== "tool" || message.parts.length > 0);
  const first = decoded.findIndex(({ message }) => message.role !== "system");
  const instructions = decoded.slice(0, first < 0 ? decoded.length : first);
  const spoken = decoded.slice(instructions.length);
  const system = options.system ?? instructions.map(({ message }) => textOfMessage(message)).join("\n");
  const plain = spoken.map(({ message }) => message);
  const slots = fitSlots(plain, { ...options, system });
  const fit = { format: dialect, plain, system, slots };
  if (!slots) return { ...fit, messages };
  const fitted = await encodeSlots(slots, spoken, dialect, media);
  return { ...fit, messages: [...instructions.map((own) => own.foreign), ...fitted] };
}

/**
 * The window of a conversation; undefined if content that may not be clipped is too large and `oversize` is not
 * "error".
 */
function fitSlots(messages: readonly Message[], options: WindowOptions): readonly Slot[] | undefined {
  try {
    return fitConversation(messages, { oversize: "clip", ...options }).slots;
  } catch (error) {
    if (options.oversize === "error" || !isLonghaulError(error, "WINDOW_FLOOR")) throw error;
    return undefined;
  }
}

interface DecodedMessage {
  readonly foreign: ForeignMessage;
  readonly message: Message;
}

function chooseMerger(dialect: MessageFormat): RoleMerger<ForeignMessage> {
  if (dialect !== "longhaul") return createRoleMerger(dialect);
  const merge = (first: ForeignMessage, second: ForeignMessage) => {
    const [merged, ...others] = alternateRoles([first, second] as unknown as readonly Message[]);
    return others.length === 0 ? (merged as unknown as ForeignMessage) : undefined;
  };
  return { canMerge: (first, second) => merge(first, second) !== undefined, merge };
}

/** Converts a window to the caller's format. */
async function encodeSlots(
  slots: readonly Slot[],
  spoken: readonly DecodedMessage[],
  dialect: MessageFormat,
  media: Media,
): Promise<readonly ForeignMessage[]> {
  const toolNames = new Map<string, string>();
  const bytesOf = async ({ digest }: { readonly digest: string }) => media.get(digest);
  const outgoing: OutgoingMessage<ForeignMessage>[] = [];
  for (const { message, seq, isNote } of slots) {
    for (const part of message.parts) if (part.type === "tool-call") toolNames.set(part.callId, part.name);
    const own = isNote ? undefined : spoken[seq - 1];
    const written =
      own?.message === message
        ? [own.foreign]
        : await encodeForeignMessages(message, { format: dialect, own, toolNames, bytesOf });
    for (const one of written) outgoing.push({ message: one, index: isNote ? undefined : seq - 1 });
  }
  const fitted = mergePromptRoles(outgoing, chooseMerger(dialect), (index) => spoken[index]?.foreign);
  if (dialect !== "ai-sdk") return fitted;
  // Placeholders for missing results were dropped when the messages were read, so add them again.
  return addMissingResults(
    fitted as unknown as readonly SdkMessage[],
  ) as unknown as readonly ForeignMessage[];
}

type FitSlots = (messages: readonly Message[], options: WindowOptions) => readonly Slot[] | undefined;

const CONTENT_TYPES: readonly unknown[] = ["input_text", "output_text", "input_image", "input_file"];

/** True for items of OpenAI Responses; plain text looks the same in all formats and counts as none of them. */
function isResponsesInput(items: readonly ForeignMessage[]): boolean {
  return items.some(
    ({ type, content }) =>
      typeof type === "string" ||
      toArray(content).some((part) => CONTENT_TYPES.includes(toObject(part)?.type)),
  );
}

/** Fits items of OpenAI Responses; several items of the model form one message and stay or leave together. */
async function fitResponsesItems(
  items: readonly WireObject[],
  options: WindowOptions,
  fitSlots: FitSlots,
): Promise<ForeignFit> {
  const first = items.findIndex((item) => !openaiResponsesWire.isLead(item));
  const leadLength = first < 0 ? items.length : first;
  const media: Media = new Map();
  const toPlain = (elements: readonly WireObject[]) =>
    openaiResponsesWire.decode(elements).map(({ input, from, to }) => ({
      message: toPlainMessage(input, media),
      elements: elements.slice(from, to),
    }));
  const lead = items.slice(0, leadLength);
  const spoken = toPlain(items.slice(leadLength));
  const plain = spoken.map(({ message }) => message);
  const system =
    options.system ??
    toPlain(lead)
      .map(({ message }) => textOfMessage(message))
      .join("\n");
  const slots = fitSlots(plain, { ...options, system });
  const fit = { format: "openai-responses", plain, system, slots } as const;
  const isSame =
    slots?.length === plain.length && slots.every(({ message }, index) => message === plain[index]);
  if (!slots || isSame) return { ...fit, messages: items };
  const base64Of = async (digest: string) => {
    const bytes = media.get(digest);
    return bytes && Buffer.from(bytes).toString("base64");
  };
  const fitted: WireObject[] = [...lead];
  for (const { message, seq, isNote } of slots) {
    const own = isNote ? undefined : spoken[seq - 1];
    if (own?.message === message) fitted.push(...own.elements);
    else {
      const client = own && { elements: own.elements, original: own.message };
      fitted.push(...(await openaiResponsesWire.encodeEdited(message, client, base64Of)));
    }
  }
  return { ...fit, messages: fitted };
}

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
async function encodeForeignMessages(
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
    ...dropUndefined({ function_call: legacyCall }),
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

/** Formats of messages that can be fitted without a session. */
type FittedFormat = MessageFormat | "openai-responses";

/** A conversation in a caller's format, and its window. */
interface ForeignFit {
  readonly format: FittedFormat;
  /** The messages to send. */
  readonly messages: readonly ForeignMessage[];
  /** The decoded conversation without its leading system messages. */
  readonly plain: readonly Message[];
  /** The system prompt that was counted. */
  readonly system: string | number;
  /** The window over `plain`, whose seqs count from 1; undefined if the messages are sent unchanged. */
  readonly slots: readonly Slot[] | undefined;
}
