import { finishOf, modelOf, pieces, type WireApi, type WireEvent, type WireRequest } from "./api.ts";
import type { Reply, WireUsage } from "./behaviour.ts";
import { openaiError } from "./openai-errors.ts";

const finishReasons = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  refusal: "content_filter",
  compaction: "stop",
} as const;

/** OpenAI Chat Completions, and compatible servers. */
export const openaiChat: WireApi = {
  name: "openai-chat",
  matches: (path) => path.endsWith("/chat/completions"),
  isStreaming: ({ body }) => body.stream === true,
  body: (reply, request) => ({
    ...head("chat.completion", reply, request),
    choices: [
      {
        index: 0,
        message: message(reply, request),
        logprobs: null,
        finish_reason: finishReasons[finishOf(reply)],
      },
    ],
    usage: usage(reply.usage),
  }),
  events(reply, request) {
    const chunk = (choices: readonly object[], rest: object = {}): WireEvent => ({
      data: { ...head("chat.completion.chunk", reply, request), choices, ...rest },
    });
    const delta = (fields: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: fields, logprobs: null, finish_reason }]);
    return [
      delta({ role: "assistant", content: "" }),
      ...(isDetailed(reply, request)
        ? [delta(details(reply))]
        : pieces(reply.reasoning ?? "").map((reasoning_content) => delta({ reasoning_content }))),
      ...pieces(reply.text ?? "").map((content) => delta({ content })),
      ...(reply.toolCalls ?? []).map((call, index) => delta({ tool_calls: [{ index, ...toolCall(call) }] })),
      delta({}, finishReasons[finishOf(reply)]),
      ...(wantsUsage(request) ? [chunk([], { usage: usage(reply.usage) })] : []),
      { data: "[DONE]" },
    ];
  },
  error: openaiError,
  errorEvent: (kind) => ({ data: openaiError(kind).body }),
};

function head(object: string, reply: Reply, request: WireRequest) {
  return {
    id: reply.id ?? "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
    object,
    created: 1_741_569_952,
    model: modelOf(reply, request),
  };
}

/** Whether the server is a router of other providers' models, which passes on their sealed reasoning. */
function isDetailed({ seal }: Reply, { body }: WireRequest): boolean {
  return seal !== undefined && String(body.model).includes("/");
}

function details({ reasoning, seal }: Reply) {
  const detail = { type: "reasoning.encrypted", data: seal, format: "openai-responses-v1", index: 0 };
  return { reasoning, reasoning_details: [detail] };
}

function message(reply: Reply, request: WireRequest) {
  const { text, reasoning, toolCalls } = reply;
  const plain = reasoning === undefined ? {} : { reasoning_content: reasoning };
  return {
    role: "assistant",
    content: text ?? null,
    refusal: null,
    ...(isDetailed(reply, request) ? details(reply) : plain),
    ...(toolCalls && { tool_calls: toolCalls.map(toolCall) }),
  };
}

function toolCall({ id, name, input }: NonNullable<Reply["toolCalls"]>[number]) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function wantsUsage({ body }: WireRequest): boolean {
  const options = body.stream_options as { include_usage?: boolean } | undefined;
  return options?.include_usage === true;
}

function usage(
  { input, output, cacheRead = 0, cacheWrite, reasoning = 0 }: WireUsage = { input: 10, output: 5 },
) {
  const prompt = input + cacheRead + (cacheWrite ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
