import type { Api } from "./api.ts";
import { capOpenaiUsage } from "./openai/cap-openai-usage.ts";
import { toOpenaiError } from "./openai/openai-error.ts";
import {
  decodeResponses,
  isResponsesLead,
  OPENAI_RESPONSES_NAME,
} from "./openai-responses/decode-responses.ts";
import { encodeLoggedMessage } from "./openai-responses/encode-logged-message.ts";
import { encodeResponses } from "./openai-responses/encode-responses.ts";
import { encodeResponsesFaultEvent, INPUT_FIELD } from "./openai-responses/responses-faults.ts";
import { createResponsesReader } from "./openai-responses/responses-reader.ts";

export { parseInputItems } from "./openai-responses/decode-responses.ts";

/** OpenAI's Responses API. */
export const openaiResponsesApi: Api = {
  name: OPENAI_RESPONSES_NAME,
  path: "/responses",
  messagesField: INPUT_FIELD,
  leadFields: ["instructions"],
  isLead: isResponsesLead,
  decode: decodeResponses,
  encode: encodeResponses,
  encodeLogged: encodeLoggedMessage,
  createReader: createResponsesReader,
  capUsage: capOpenaiUsage,
  encodeFault: (fault) => ({ error: toOpenaiError(fault, INPUT_FIELD) }),
  encodeFaultEvent: encodeResponsesFaultEvent,
};
