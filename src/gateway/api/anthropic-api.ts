import { encodeAnthropicFault, encodeAnthropicFaultEvent } from "./anthropic/anthropic-faults.ts";
import { createAnthropicReader } from "./anthropic/anthropic-reader.ts";
import { capAnthropicUsage } from "./anthropic/cap-anthropic-usage.ts";
import { ANTHROPIC_NAME, decodeAnthropic } from "./anthropic/decode-anthropic.ts";
import { encodeAnthropic } from "./anthropic/encode-anthropic.ts";
import type { Api } from "./api.ts";

/** Anthropic's Messages API. The system prompt is a field; system messages in the list count as messages. */
export const anthropicApi: Api = {
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
