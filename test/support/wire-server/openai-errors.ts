import type { WireError } from "./api.ts";
import type { ErrorKind } from "./behaviour.ts";

type Fields = readonly [status: number, type: string, code: string | null, message: string];

const errors: Readonly<Record<ErrorKind, Fields>> = {
  "bad-request": [400, "invalid_request_error", "unknown_parameter", "Unknown parameter: 'colour'."],
  unauthorized: [
    401,
    "invalid_request_error",
    "invalid_api_key",
    "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
  ],
  "rate-limit": [
    429,
    "tokens",
    "rate_limit_exceeded",
    "Rate limit reached for gpt-5-mini in organization org-a on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4s.",
  ],
  "server-error": [
    500,
    "server_error",
    null,
    "The server had an error while processing your request. Sorry about that!",
  ],
  overloaded: [
    503,
    "server_error",
    "server_is_overloaded",
    "Our servers are currently overloaded. Please try again later.",
  ],
  overflow: [
    400,
    "invalid_request_error",
    "context_length_exceeded",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. Please reduce the length of the messages.",
  ],
  "empty-account": [
    429,
    "insufficient_quota",
    "insufficient_quota",
    "You exceeded your current quota, please check your plan and billing details.",
  ],
};

/** The error object that all of OpenAI's APIs share. */
export function openaiError(kind: ErrorKind): WireError {
  const [status, type, code, message] = errors[kind];
  return { status, body: { error: { message, type, param: null, code } } };
}
