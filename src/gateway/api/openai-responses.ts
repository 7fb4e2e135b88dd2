import type { Api } from "./api.ts";
import { capUsage } from "./openai/cap-usage.ts";
import { errorOf } from "./openai/faults.ts";
import { decode, isLead, NAME } from "./openai-responses/decode.ts";
import { encode } from "./openai-responses/encode.ts";
import { FIELD, faultEvent } from "./openai-responses/faults.ts";
import { makeReader } from "./openai-responses/reader.ts";
import { writeLogged } from "./openai-responses/write-logged.ts";

export { itemsOfInput } from "./openai-responses/decode.ts";

/** OpenAI's Responses API. */
export const openaiResponses: Api = {
  name: NAME,
  path: "/responses",
  messagesField: FIELD,
  leadFields: ["instructions"],
  isLead,
  decode,
  encode,
  writeLogged,
  makeReader,
  capUsage,
  faultBody: (fault) => ({ error: errorOf(fault, FIELD) }),
  faultEvent,
};
