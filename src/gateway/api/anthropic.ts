import { capUsage } from "./anthropic/cap-usage.ts";
import { decode, NAME } from "./anthropic/decode.ts";
import { encode } from "./anthropic/encode.ts";
import { faultBody, faultEvent } from "./anthropic/faults.ts";
import { makeReader } from "./anthropic/reader.ts";
import type { Api } from "./api.ts";

/** Anthropic's Messages API. Its system prompt is a field; messages of that role are said. */
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
