import { readFailureReply } from "../replies/read-failure.ts";
import type { Wire } from "../wire.ts";
import { encodeAnthropicFault, encodeAnthropicFaultEvent } from "./anthropic-faults.ts";
import { createAnthropicReader } from "./anthropic-reader.ts";
import { capAnthropicUsage } from "./cap-anthropic-usage.ts";
import {
  ANTHROPIC_NAME,
  decodeAnthropic,
  decodeAnthropicLead,
  isAnthropicMessage,
} from "./decode-anthropic.ts";
import { encodeAnthropic } from "./encode-anthropic.ts";
import { encodeAnthropicRequest } from "./encode-anthropic-request.ts";
import { parseAnthropicUsage } from "./parse-anthropic-usage.ts";

/** Anthropic's Messages API. The system prompt is a field; system messages in the list count as messages. */
export const anthropicWire: Wire = {
  name: ANTHROPIC_NAME,
  title: "Anthropic Messages",
  path: "/messages",
  messagesField: "messages",
  leadFields: ["system"],
  isMessage: isAnthropicMessage,
  decodeLead: decodeAnthropicLead,
  isLead: () => false,
  decode: decodeAnthropic,
  isMessagePerElement: true,
  encodeRequest: encodeAnthropicRequest,
  encodeEdited: encodeAnthropic,
  createReader: createAnthropicReader,
  parseUsage: parseAnthropicUsage,
  capUsage: capAnthropicUsage,
  parseFailure: readFailureReply,
  encodeFault: encodeAnthropicFault,
  encodeFaultEvent: encodeAnthropicFaultEvent,
};
