import { finishOf, pieces, type WireApi, type WireError, type WireRequest } from "./api.ts";
import type { ErrorKind, Reply, WireUsage } from "./behaviour.ts";

const finishReasons = {
  stop: "STOP",
  length: "MAX_TOKENS",
  "tool-calls": "STOP",
  refusal: "SAFETY",
} as const;

type Fields = readonly [code: number, status: string, message: string, details?: readonly object[]];

const errors: Readonly<Record<ErrorKind, Fields>> = {
  "bad-request": [400, "INVALID_ARGUMENT", "Invalid value at 'generation_config.temperature'."],
  unauthorized: [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."],
  "rate-limit": [
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details. Please retry in 2.5s.",
    [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2.5s" }],
  ],
  "server-error": [
    500,
    "INTERNAL",
    "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
  ],
  overloaded: [503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
  overflow: [
    400,
    "INVALID_ARGUMENT",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
  ],
  "empty-account": [403, "PERMISSION_DENIED", "Billing is disabled for this project."],
};

/** Google generateContent and streamGenerateContent. */
export const google: WireApi = {
  name: "google",
  matches: (path) => /:(?:generate|streamGenerate)Content$/.test(path),
  isStreaming: ({ path }) => path.endsWith(":streamGenerateContent"),
  body: (reply, request) => chunk(reply, request, parts(reply), true),
  events(reply, request) {
    const streamed = [
      ...(reply.reasoning === undefined ? [] : [{ text: reply.reasoning, thought: true }]),
      ...pieces(reply.text ?? "").map((text) => ({ text })),
      ...parts({ toolCalls: reply.toolCalls ?? [] }),
    ];
    return [
      ...streamed.map((part) => ({ data: chunk(reply, request, [part], false) })),
      { data: chunk(reply, request, [], true) },
    ];
  },
  error,
  errorEvent: (kind) => ({ data: error(kind).body }),
};

function error(kind: ErrorKind): WireError {
  const [code, status, message, details] = errors[kind];
  return { status: code, body: { error: { code, message, status, ...(details && { details }) } } };
}

function parts({ text, reasoning, toolCalls = [] }: Reply): readonly object[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...toolCalls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
  ];
}

function chunk(reply: Reply, { path }: WireRequest, content: readonly object[], isLast: boolean) {
  return {
    candidates: [
      {
        content: { parts: content, role: "model" },
        index: 0,
        ...(isLast && { finishReason: finishReasons[finishOf(reply)] }),
      },
    ],
    usageMetadata: usage(reply.usage),
    modelVersion: reply.model ?? /models\/([^:]+):/.exec(path)?.[1],
    responseId: "mAitaLmkHPPlz7IPvtfUqQ4",
  };
}

function usage({ input, output, cacheRead = 0, reasoning = 0 }: WireUsage = { input: 10, output: 5 }) {
  return {
    promptTokenCount: input + cacheRead,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: input + cacheRead + output,
  };
}
