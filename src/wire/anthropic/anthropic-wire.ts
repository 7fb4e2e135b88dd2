import type { Wire } from "../wire.ts";
import { encodeAnthropicFault, encodeAnthropicFaultEvent } from "./anthropic-faults.ts";
import { createAnthropicReader } from "./anthropic-reader.ts";
import { capAnthropicUsage } from "./cap-anthropic-usage.ts";
import { ANTHROPIC_NAME, decodeAnthropic } from "./decode-anthropic.ts";
import { encodeAnthropic } from "./encode-anthropic.ts";

/** Anthropic's Messages API. The system prompt is a field; system messages in the list count as messages. */
export const anthropicWire: Wire = {
  name: ANTHROPIC_NAME,
  path: "/messages",
  messagesField: "messages",
  leadFields: ["system"],
  isLead: () => false,
  decode: decodeAnthropic,
  encode: encodeAnthropic,
  createReader: createAnthropicReader,
  capUsage: capAnthropicUsage,
  encodeFault: encodeAnthropicFault,
  encodeFaultEvent: encodeAnthropicFaultEvent,
};
