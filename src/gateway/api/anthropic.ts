import { capUsage } from "./anthropic/cap-usage.ts";
import { decode, NAME } from "./anthropic/decode.ts";
import { encode } from "./anthropic/encode.ts";
import { faultBody, faultEvent } from "./anthropic/faults.ts";
import { makeReader } from "./anthropic/reader.ts";
import type { Api } from "./api.ts";

/** Anthropic's Messages API. The system prompt is a field; system messages in the list count as messages. */
export const anthropic: Api = {
  name: NAME,
  path: "/messages",
  messagesField: "messages",
  leadFields: ["system"],
  isLead: () => false,
  decode,
  encode,
  makeReader,
  capUsage,
  faultBody,
  faultEvent,
};
