import type { WireFault } from "../wire.ts";

/** The error object that OpenAI's APIs share. */
interface OpenaiError {
  readonly [field: string]: string | null;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

type ErrorWords = readonly [type: string, code: string | null];

const ERROR_WORDS: Readonly<Record<WireFault["kind"], ErrorWords>> = {
  invalid_request: ["invalid_request_error", null],
  unauthorized: ["invalid_request_error", "invalid_api_key"],
  forbidden: ["invalid_request_error", "insufficient_permissions"],
  not_found: ["invalid_request_error", "not_found"],
  too_large: ["invalid_request_error", "request_too_large"],
  overflow: ["invalid_request_error", "context_length_exceeded"],
  rate_limit: ["requests", "rate_limit_exceeded"],
  budget: ["insufficient_quota", "insufficient_quota"],
  stopped: ["invalid_request_error", "stopped"],
  unavailable: ["server_error", "server_is_overloaded"],
  timeout: ["server_error", "timeout"],
  internal: ["server_error", "server_error"],
};

/** Clients that parse messages recognize an overflow by these words. */
const OVERFLOW_TEXT = /exceeds the context window|maximum context length is \d+ tokens/i;

/** An error in OpenAI's format; `field` is the field of the messages. */
export function toOpenaiError({ kind, message }: WireFault, field: string): OpenaiError {
  const [type, code] = ERROR_WORDS[kind];
  const isOverflow = kind === "overflow";
  const isNamed = !isOverflow || OVERFLOW_TEXT.test(message);
  return {
    message: isNamed ? message : `Your input exceeds the context window of this model. ${message}`,
    type,
    param: isOverflow ? field : null,
    code,
  };
}
