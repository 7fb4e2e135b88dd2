import type { Json } from "../../model/json.ts";
import type { WireFault } from "../wire.ts";

const ERROR_TYPES: Readonly<Record<WireFault["kind"], string>> = {
  invalid_request: "invalid_request_error",
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  too_large: "request_too_large",
  overflow: "invalid_request_error",
  rate_limit: "rate_limit_error",
  budget: "rate_limit_error",
  stopped: "invalid_request_error",
  unavailable: "overloaded_error",
  timeout: "timeout_error",
  internal: "api_error",
};

/** Clients recognize an overflow by these words. */
const OVERFLOW_TEXT = "prompt is too long";

/** The body of an error in Anthropic's format. */
export function encodeAnthropicFault({ kind, message }: WireFault): Json {
  const isNamed = kind !== "overflow" || message.toLowerCase().includes(OVERFLOW_TEXT);
  return {
    type: "error",
    error: { type: ERROR_TYPES[kind], message: isNamed ? message : `${OVERFLOW_TEXT}: ${message}` },
  };
}

/** An error inside a stream. */
export function encodeAnthropicFaultEvent(fault: WireFault): string {
  return `event: error\ndata: ${JSON.stringify(encodeAnthropicFault(fault))}\n\n`;
}
