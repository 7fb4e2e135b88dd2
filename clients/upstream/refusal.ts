import type { WireApi } from "../../test/support/wire-server/api.ts";

/** The error body for a prompt that is too long, in the format of its API. */
export function overflowBody(api: WireApi["name"], tokens: number, limit: number): string {
  if (api === "anthropic")
    return JSON.stringify({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: `prompt is too long: ${tokens} tokens > ${limit} maximum`,
      },
      request_id: "req_011CSHoEeqs5C35K2UUqR7Fy",
    });
  if (api === "google")
    return JSON.stringify({
      error: {
        code: 400,
        message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`,
        status: "INVALID_ARGUMENT",
      },
    });
  const message =
    api === "openai-responses"
      ? "Your input exceeds the context window of this model. Please adjust your input and try again."
      : `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  return JSON.stringify({
    error: { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" },
  });
}
