import type { Json } from "../../../index.ts";
import type { Fault } from "../api.ts";

const TYPES: Readonly<Record<Fault["kind"], string>> = {
  invalid_request: "invalid_request_error",
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  too_large: "request_too_large",
  overflow: "invalid_request_error",
  rate_limit: "rate_limit_error",
  stopped: "invalid_request_error",
  unavailable: "overloaded_error",
  timeout: "timeout_error",
  internal: "api_error",
};

/** Clients recognize an overflow by these words. */
const OVERFLOW = "prompt is too long";

/** The body of an error in Anthropic's format. */
export function faultBody({ kind, message }: Fault): Json {
  const isNamed = kind !== "overflow" || message.toLowerCase().includes(OVERFLOW);
  return {
    type: "error",
    error: { type: TYPES[kind], message: isNamed ? message : `${OVERFLOW}: ${message}` },
  };
}

/** An error inside a stream. */
export function faultEvent(fault: Fault): string {
  return `event: error\ndata: ${JSON.stringify(faultBody(fault))}\n\n`;
}
