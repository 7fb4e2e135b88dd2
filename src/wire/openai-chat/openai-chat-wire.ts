import { capOpenaiUsage } from "../openai/cap-openai-usage.ts";
import { toOpenaiError } from "../openai/openai-error.ts";
import { parseOpenaiUsage } from "../openai/parse-openai-usage.ts";
import { readFailureReply } from "../replies/read-failure.ts";
import type { Wire } from "../wire.ts";
import { createChatReader } from "./chat-reader.ts";
import { decodeChat, isChatLead, isChatMessage, OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { encodeChat } from "./encode-chat.ts";
import { encodeChatRequest } from "./encode-chat-request.ts";

const FIELD = "messages";

/** OpenAI's Chat Completions API, and the many compatible ones. */
export const openaiChatWire: Wire = {
  name: OPENAI_CHAT_NAME,
  title: "OpenAI Chat Completions",
  path: "/chat/completions",
  messagesField: FIELD,
  leadFields: [],
  isMessage: isChatMessage,
  decodeLead: () => [],
  isLead: isChatLead,
  decode: decodeChat,
  isMessagePerElement: true,
  encodeRequest: encodeChatRequest,
  encodeEdited: encodeChat,
  createReader: createChatReader,
  parseUsage: (report) => parseOpenaiUsage(report),
  capUsage: capOpenaiUsage,
  parseFailure: readFailureReply,
  encodeFault: (fault) => ({ error: toOpenaiError(fault, FIELD) }),
  encodeFaultEvent: (fault) => `data: ${JSON.stringify({ error: toOpenaiError(fault, FIELD) })}\n\n`,
};
