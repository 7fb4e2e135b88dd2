import { createArgumentError } from "../model/errors.ts";
import type { Message, MessageInput } from "../model/message.ts";
import { anthropicWire } from "./anthropic/anthropic-wire.ts";
import { toObject } from "./fields.ts";
import { toInlineMessages } from "./inline-messages.ts";
import { openaiChatWire } from "./openai-chat/openai-chat-wire.ts";
import { parseInputItems } from "./openai-responses/decode-responses.ts";
import { openaiResponsesWire } from "./openai-responses/openai-responses-wire.ts";
import type { PartSource } from "./part-source.ts";
import type { Wire, WireObject } from "./wire.ts";

/** Messages of a provider, or the request that holds them. */
export type WireMessages = readonly WireObject[] | WireObject;

/** Messages to encode, as a program writes them or as a log stores them. */
export type EncodableMessages = readonly (MessageInput | Message)[];

/** The part of a request to Anthropic's Messages API that holds the conversation. */
export interface AnthropicMessages {
  readonly system?: readonly WireObject[];
  readonly messages: readonly WireObject[];
}

/** The part of a request to OpenAI's Chat Completions API that holds the conversation. */
export interface OpenaiChatMessages {
  readonly messages: readonly WireObject[];
}

/** The part of a request to OpenAI's Responses API that holds the conversation. */
export interface OpenaiResponsesMessages {
  readonly instructions?: string;
  readonly input: readonly WireObject[];
}

/** Converts messages of Anthropic's Messages API; the `system` of a request comes first. */
export function decodeAnthropicMessages(messages: WireMessages): readonly MessageInput[] {
  return decodeMessages(anthropicWire, messages);
}

/** Converts messages of OpenAI's Chat Completions API. */
export function decodeOpenaiChatMessages(messages: WireMessages): readonly MessageInput[] {
  return decodeMessages(openaiChatWire, messages);
}

/** Converts items of OpenAI's Responses API; the `instructions` of a request come first. */
export function decodeOpenaiResponsesMessages(messages: WireMessages): readonly MessageInput[] {
  return decodeMessages(openaiResponsesWire, messages);
}

/** Converts messages to a valid request of Anthropic's Messages API. `source` loads blobs of a log. */
export async function encodeAnthropicMessages(
  messages: EncodableMessages,
  source?: PartSource,
): Promise<AnthropicMessages> {
  return encodeMessages<AnthropicMessages>(anthropicWire, messages, source);
}

/** Converts messages to a valid request of OpenAI's Chat Completions API. `source` loads blobs of a log. */
export async function encodeOpenaiChatMessages(
  messages: EncodableMessages,
  source?: PartSource,
): Promise<OpenaiChatMessages> {
  return encodeMessages<OpenaiChatMessages>(openaiChatWire, messages, source);
}

/** Converts messages to a valid request of OpenAI's Responses API. `source` loads blobs of a log. */
export async function encodeOpenaiResponsesMessages(
  messages: EncodableMessages,
  source?: PartSource,
): Promise<OpenaiResponsesMessages> {
  return encodeMessages<OpenaiResponsesMessages>(openaiResponsesWire, messages, source);
}

function decodeMessages(wire: Wire, messages: WireMessages): readonly MessageInput[] {
  const request = toObject(messages);
  const list = request ? request[wire.messagesField] : messages;
  const isPlainInput = wire === openaiResponsesWire && typeof list === "string";
  if (!isPlainInput && !Array.isArray(list))
    throw createArgumentError("messages", messages, `an array, or a request with \`${wire.messagesField}\``);
  const elements: readonly (WireObject | undefined)[] = isPlainInput
    ? parseInputItems(list)
    : (list as readonly unknown[]).map(toObject);
  const strange = elements.indexOf(undefined);
  if (strange >= 0)
    throw createArgumentError(`messages[${strange}]`, (list as readonly unknown[])[strange], "an object");
  const decoded = wire.decode(elements as readonly WireObject[]).map(({ input }) => input);
  return [...(request ? wire.decodeLead(request) : []), ...decoded];
}

async function encodeMessages<Request>(
  wire: Wire,
  inputs: EncodableMessages,
  stored: PartSource | undefined,
): Promise<Request> {
  if (!Array.isArray(inputs)) throw createArgumentError("messages", inputs, "an array of messages");
  const { messages, source } = await toInlineMessages(inputs, stored);
  const { lead, elements } = await wire.encodeRequest(readInTurn(messages), source);
  const list: WireObject[] = [];
  for await (const element of elements) list.push(element);
  return { ...lead, [wire.messagesField]: list } as Request;
}

async function* readInTurn(messages: readonly Message[]): AsyncGenerator<Message> {
  yield* messages;
}
