import type { Json } from "../../model/json.ts";
import { toNumber } from "../fields.ts";
import { readFailureReply } from "../replies/read-failure.ts";
import { parseGoogleUsage } from "../usage/parse-google-usage.ts";
import { capUsageAtPaths, scaleCounts, sumCounts } from "../usage/usage-cap.ts";
import type { Wire, WireFault, WireObject } from "../wire.ts";
import { decodeGoogle, decodeGoogleLead, isGoogleContent } from "./decode-google.ts";
import { encodeGoogle, encodeGoogleRequest } from "./encode-google.ts";
import { GOOGLE_NAME } from "./google-parts.ts";
import { createGoogleReader } from "./google-reader.ts";

/** Google's generateContent and streamGenerateContent. The path names the model, and whether the reply is a stream. */
export const googleWire = {
  name: GOOGLE_NAME,
  title: "Google generateContent",
  path: "/models",
  messagesField: "contents",
  leadFields: ["systemInstruction", "system_instruction"],
  isMessage: isGoogleContent,
  decodeLead: decodeGoogleLead,
  isLead: () => false,
  decode: decodeGoogle,
  isMessagePerElement: true,
  encodeRequest: encodeGoogleRequest,
  encodeEdited: encodeGoogle,
  createReader: createGoogleReader,
  parseUsage: parseGoogleUsage,
  capUsage: (data, most) => capUsageAtPaths(data, [["usageMetadata"]], (usage) => capCounts(usage, most)),
  parseFailure: readFailureReply,
  encodeFault: encodeGoogleFault,
  encodeFaultEvent: (fault) => `data: ${JSON.stringify(encodeGoogleFault(fault))}\n\n`,
} satisfies Wire;

const INPUT_COUNTS = ["promptTokenCount", "toolUsePromptTokenCount"];

function capCounts(usage: WireObject, most: number): WireObject | undefined {
  const before = sumCounts(usage, INPUT_COUNTS);
  if (before <= most) return undefined;
  const counts = scaleCounts(usage, INPUT_COUNTS, most);
  const cached = toNumber(usage.cachedContentTokenCount);
  const total = toNumber(usage.totalTokenCount);
  return {
    ...usage,
    ...counts,
    ...(cached !== undefined && { cachedContentTokenCount: Math.min(cached, counts.promptTokenCount ?? 0) }),
    ...(total !== undefined && { totalTokenCount: total - before + most }),
  };
}

const STATUSES: Readonly<Record<WireFault["kind"], string>> = {
  invalid_request: "INVALID_ARGUMENT",
  unauthorized: "UNAUTHENTICATED",
  forbidden: "PERMISSION_DENIED",
  not_found: "NOT_FOUND",
  too_large: "INVALID_ARGUMENT",
  overflow: "INVALID_ARGUMENT",
  rate_limit: "RESOURCE_EXHAUSTED",
  budget: "RESOURCE_EXHAUSTED",
  stopped: "FAILED_PRECONDITION",
  unavailable: "UNAVAILABLE",
  timeout: "DEADLINE_EXCEEDED",
  internal: "INTERNAL",
};

/** Clients recognize an overflow by these words. */
const OVERFLOW_TEXT = "exceeds the maximum number of tokens allowed";

/** The body of an error in Google's format. */
function encodeGoogleFault({ kind, status, message }: WireFault): Json {
  const isNamed = kind !== "overflow" || message.includes(OVERFLOW_TEXT);
  const text = isNamed ? message : `The input token count ${OVERFLOW_TEXT}. ${message}`;
  return { error: { code: status, message: text, status: STATUSES[kind] } };
}
