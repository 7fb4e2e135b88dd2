import { capOpenaiUsage } from "../openai/cap-openai-usage.ts";
import { toOpenaiError } from "../openai/openai-error.ts";
import type { Wire } from "../wire.ts";
import { decodeResponses, isResponsesLead, OPENAI_RESPONSES_NAME } from "./decode-responses.ts";
import { encodeLoggedMessage } from "./encode-logged-message.ts";
import { encodeResponses } from "./encode-responses.ts";
import { encodeResponsesFaultEvent, INPUT_FIELD } from "./responses-faults.ts";
import { createResponsesReader } from "./responses-reader.ts";

export { parseInputItems } from "./decode-responses.ts";

/** OpenAI's Responses API. */
export const openaiResponsesWire: Wire = {
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
