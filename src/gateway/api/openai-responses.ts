import type { Api } from "./api.ts";
import { capOpenaiUsage } from "./openai/cap-usage.ts";
import { toOpenaiError } from "./openai/faults.ts";
import { decodeResponses, isResponsesLead, OPENAI_RESPONSES_NAME } from "./openai-responses/decode.ts";
import { encodeResponses } from "./openai-responses/encode.ts";
import { encodeResponsesFaultEvent, INPUT_FIELD } from "./openai-responses/faults.ts";
import { createResponsesReader } from "./openai-responses/reader.ts";
import { encodeLoggedMessage } from "./openai-responses/write-logged.ts";

export { parseInputItems } from "./openai-responses/decode.ts";

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
