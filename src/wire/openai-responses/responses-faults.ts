import { toOpenaiError } from "../openai/openai-error.ts";
import type { WireFault } from "../wire.ts";

/** The field of a request that an overflow concerns. */
export const INPUT_FIELD = "input";

/** An error inside a stream, as two events; some clients look for one, some for the other. */
export function encodeResponsesFaultEvent(fault: WireFault): string {
  const error = toOpenaiError(fault, INPUT_FIELD);
  const { message, param, type } = error;
  const code = error.code ?? type;
  const failed = {
    object: "response",
    status: "failed",
    error: { code, message },
    incomplete_details: null,
    output: [],
    usage: null,
  };
  return [
    { type: "error", sequence_number: 0, code, message, param, error: { ...error, code } },
    { type: "response.failed", sequence_number: 1, response: { id: "resp_failed", ...failed } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}
