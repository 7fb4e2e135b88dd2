import type { Api } from "./api.ts";
import { capUsage } from "./openai/cap-usage.ts";
import { errorOf } from "./openai/faults.ts";
import { decode, isLead, NAME } from "./openai-chat/decode.ts";
import { encode } from "./openai-chat/encode.ts";
import { makeReader } from "./openai-chat/reader.ts";

const FIELD = "messages";

/** OpenAI's Chat Completions API, and the many compatible ones. */
export const openaiChat: Api = {
  name: NAME,
  path: "/chat/completions",
  messagesField: FIELD,
  leadFields: [],
  isLead,
  decode,
  encode,
  makeReader,
  capUsage,
  faultBody: (fault) => ({ error: errorOf(fault, FIELD) }),
  faultEvent: (fault) => `data: ${JSON.stringify({ error: errorOf(fault, FIELD) })}\n\n`,
};
