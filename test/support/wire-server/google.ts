import { finishOf, pieces, type WireApi, type WireError, type WireRequest } from "./api.ts";
import type { ErrorKind, Reply, WireUsage } from "./behaviour.ts";

const FINISH_REASONS = {
  compaction: "STOP",
  stop: "STOP",
  length: "MAX_TOKENS",
  "tool-calls": "STOP",
  refusal: "SAFETY",
} as const;

const GENERATE = /\/models\/([^/:]+):(stream)?generateContent(?:\?|$)/i;

/** Google's generateContent, with a key or on Vertex AI. */
export const google: WireApi = {
  name: "google",
  matches: (path) => GENERATE.test(path),
  isStreaming: ({ path }) => GENERATE.exec(path)?.[2] !== undefined,
  body: (reply, request) => ({
    candidates: [
      {
        content: { role: "model", parts: partsOf(reply) },
        finishReason: FINISH_REASONS[finishOf(reply)],
        index: 0,
      },
    ],
    ...end(reply, request),
  }),
  events(reply, request) {
    const chunk = (parts: readonly object[], rest: object = {}) => ({
      data: {
        candidates: [{ content: { role: "model", parts }, index: 0, ...rest }],
        ...end(reply, request),
      },
    });
    const thoughts = pieces(reply.reasoning ?? "").map((text) => chunk([{ text, thought: true }]));
    const words = pieces(reply.text ?? "");
    const texts = words.map((text, at) => chunk([{ text, ...sealOf(reply, at === words.length - 1) }]));
    const calls = callsOf(reply).map((call) => chunk([call]));
    return [...thoughts, ...texts, ...calls, chunk([], { finishReason: FINISH_REASONS[finishOf(reply)] })];
  },
  error: googleError,
  errorEvent: (kind) => ({ data: googleError(kind).body }),
};

function partsOf(reply: Reply): readonly object[] {
  const { text, reasoning } = reply;
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text, ...sealOf(reply, true) }]),
    ...callsOf(reply),
  ];
}

/** With a seal of its own, a reply is signed once: at its first call, or at the end of its words. */
function callsOf({ toolCalls = [], seal }: Reply): readonly object[] {
  return toolCalls.map(({ id, name, input }, at) => ({
    functionCall: { id, name, args: input },
    ...(seal === undefined && { thoughtSignature: "c2lnbmF0dXJl" }),
    ...(seal !== undefined && at === 0 && { thoughtSignature: seal }),
  }));
}

function sealOf({ toolCalls = [], seal }: Reply, isLast: boolean): object {
  return seal !== undefined && isLast && toolCalls.length === 0 ? { thoughtSignature: seal } : {};
}

function end(reply: Reply, { path, body }: WireRequest): object {
  return {
    usageMetadata: usageOf(reply.usage),
    modelVersion: reply.model ?? GENERATE.exec(path)?.[1] ?? body.model ?? "unnamed",
    responseId: reply.id ?? "8fkZaYq1Nt2ZmtkP",
  };
}

function usageOf(
  { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: WireUsage = { input: 10, output: 5 },
) {
  const prompt = input + cacheRead + cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    totalTokenCount: prompt + output,
  };
}

type Fields = readonly [code: number, status: string, message: string, details?: readonly object[]];

const ERRORS: Readonly<Record<ErrorKind, Fields>> = {
  "bad-request": [400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "colour".'],
  unauthorized: [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."],
  "rate-limit": [
    429,
    "RESOURCE_EXHAUSTED",
    "Rate limit: you exceeded your current quota, please check your plan and billing details. Retry in 2.5s.",
    [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2.5s" }],
  ],
  "server-error": [500, "INTERNAL", "An internal error has occurred."],
  overloaded: [503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
  overflow: [
    400,
    "INVALID_ARGUMENT",
    "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
  ],
  "empty-account": [403, "PERMISSION_DENIED", "Billing is disabled for this project."],
};

function googleError(kind: ErrorKind): WireError {
  const [code, status, message, details] = ERRORS[kind];
  return { status: code, body: { error: { code, message, status, ...(details && { details }) } } };
}
