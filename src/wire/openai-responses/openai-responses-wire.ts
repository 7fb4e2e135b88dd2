import { capOpenaiUsage } from "../openai/cap-openai-usage.ts";
import { toOpenaiError } from "../openai/openai-error.ts";
import { parseOpenaiUsage } from "../openai/parse-openai-usage.ts";
import { readFailureReply } from "../replies/read-failure.ts";
import type { Wire } from "../wire.ts";
import {
  decodeResponses,
  decodeResponsesLead,
  isResponsesLead,
  OPENAI_RESPONSES_NAME,
} from "./decode-responses.ts";
import { encodeLoggedMessage } from "./encode-logged-message.ts";
import { encodeResponses } from "./encode-responses.ts";
import { encodeResponsesRequest } from "./encode-responses-request.ts";
import { isResponsesItem } from "./openai-responses-content.ts";
import { encodeResponsesFaultEvent, INPUT_FIELD } from "./responses-faults.ts";
import { createResponsesReader } from "./responses-reader.ts";

export { parseInputItems } from "./decode-responses.ts";

/** OpenAI's Responses API. */
export const openaiResponsesWire: Wire = {
  name: OPENAI_RESPONSES_NAME,
  title: "OpenAI Responses",
  path: "/responses",
  messagesField: INPUT_FIELD,
  leadFields: ["instructions"],
  isMessage: isResponsesItem,
  decodeLead: decodeResponsesLead,
  isLead: isResponsesLead,
  decode: decodeResponses,
  isMessagePerElement: false,
  encodeRequest: encodeResponsesRequest,
  encodeEdited: encodeResponses,
  encodeLogged: encodeLoggedMessage,
  createReader: createResponsesReader,
  parseUsage: (report) => parseOpenaiUsage(report),
  capUsage: capOpenaiUsage,
  parseFailure: readFailureReply,
  encodeFault: (fault) => ({ error: toOpenaiError(fault, INPUT_FIELD) }),
  encodeFaultEvent: encodeResponsesFaultEvent,
};
