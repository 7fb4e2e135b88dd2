import { finishOf, modelOf, pieces, type WireApi, type WireError, type WireEvent } from "./api.ts";
import type { ErrorKind, Reply, WireUsage } from "./behaviour.ts";

const stopReasons = {
  stop: "end_turn",
  length: "max_tokens",
  "tool-calls": "tool_use",
  refusal: "refusal",
  compaction: "compaction",
} as const;

const errors: Readonly<Record<ErrorKind, readonly [status: number, type: string, message: string]>> = {
  "bad-request": [400, "invalid_request_error", "messages: at least one message is required"],
  unauthorized: [401, "authentication_error", "invalid x-api-key"],
  "rate-limit": [
    429,
    "rate_limit_error",
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
  ],
  "server-error": [500, "api_error", "Internal server error"],
  overloaded: [529, "overloaded_error", "Overloaded"],
  overflow: [400, "invalid_request_error", "prompt is too long: 214731 tokens > 200000 maximum"],
  "empty-account": [
    400,
    "invalid_request_error",
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  ],
};

/** Anthropic Messages. */
export const anthropic: WireApi = {
  name: "anthropic",
  matches: (path) => path.endsWith("/messages"),
  isStreaming: ({ body }) => body.stream === true,
  body: (reply, request) => ({
    ...messageHead(reply, modelOf(reply, request)),
    content: blocks(reply),
    stop_reason: stopReasons[finishOf(reply)],
    stop_sequence: null,
    usage: usage(reply.usage),
  }),
  events(reply, request) {
    const { output_tokens, ...input } = usage(reply.usage);
    return [
      event("message_start", {
        message: {
          ...messageHead(reply, modelOf(reply, request)),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...input, output_tokens: 1 },
        },
      }),
      event("ping", {}),
      ...blocks(reply).flatMap(blockEvents),
      event("message_delta", {
        delta: { stop_reason: stopReasons[finishOf(reply)], stop_sequence: null },
        usage: { output_tokens },
      }),
      event("message_stop", {}),
    ];
  },
  error,
  errorEvent: (kind) => ({ event: "error", data: error(kind).body }),
};

function error(kind: ErrorKind): WireError {
  const [status, type, message] = errors[kind];
  return {
    status,
    body: { type: "error", error: { type, message }, request_id: "req_011CSHoEeqs5C35K2UUqR7Fy" },
  };
}

function messageHead({ id = "msg_01XFDUDYJgAACzvnptvVoYEL", inputTransformations }: Reply, model: string) {
  const told = inputTransformations && { input_transformations: inputTransformations };
  return { id, type: "message", role: "assistant", model, ...told };
}

type Block =
  | { readonly type: "compaction"; readonly content: string; readonly signature?: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

function blocks({ text, reasoning, seal = "c2lnbmVk", compaction, toolCalls = [] }: Reply): readonly Block[] {
  return [
    ...(compaction === undefined ? [] : [{ type: "compaction" as const, ...compaction }]),
    ...(reasoning === undefined ? [] : [{ type: "thinking" as const, thinking: reasoning, signature: seal }]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.map((call) => ({ type: "tool_use" as const, ...call })),
  ];
}

function blockEvents(block: Block, index: number): readonly WireEvent[] {
  const delta = (fields: object) => event("content_block_delta", { index, delta: fields });
  const start = (fields: object) => event("content_block_start", { index, content_block: fields });
  const stop = event("content_block_stop", { index });
  switch (block.type) {
    case "compaction":
      return [
        start({ ...block, content: null }),
        delta({ type: "compaction_delta", content: block.content }),
        stop,
      ];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...pieces(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...pieces(block.text).map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "tool_use":
      return [
        start({ ...block, input: {} }),
        delta({ type: "input_json_delta", partial_json: JSON.stringify(block.input) }),
        stop,
      ];
  }
}

function usage(
  { input, output, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 }: WireUsage = { input: 10, output: 5 },
) {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite - cacheWriteHour,
      ephemeral_1h_input_tokens: cacheWriteHour,
    },
    output_tokens: output,
    service_tier: "standard",
  };
}

function event(type: string, fields: object): WireEvent {
  return { event: type, data: { type, ...fields } };
}
