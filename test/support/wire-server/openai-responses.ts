import { finishOf, modelOf, pieces, type WireApi, type WireEvent, type WireRequest } from "./api.ts";
import type { Reply, WireUsage } from "./behaviour.ts";
import { openaiError } from "./openai-errors.ts";

const STANDING_ID = "resp_67ccd2bed1ec8190b14f964abc054267";

/** OpenAI Responses. */
export const openaiResponses: WireApi = {
  name: "openai-responses",
  matches: (path) => path.endsWith("/responses"),
  isStreaming: ({ body }) => body.stream === true,
  body: response,
  events(reply, request) {
    const begun = { ...response(reply, request), status: "in_progress", output: [], usage: null };
    const isComplete = finishOf(reply) !== "length";
    const events = [
      event("response.created", { response: begun }),
      event("response.in_progress", { response: begun }),
      ...items(reply).flatMap(itemEvents),
      event(isComplete ? "response.completed" : "response.incomplete", {
        response: response(reply, request),
      }),
    ];
    return events.map(({ event, data }, sequence_number) => ({
      ...(event !== undefined && { event }),
      data: { ...(data as object), sequence_number },
    }));
  },
  error: openaiError,
  errorEvent: (kind) => {
    const { error } = openaiError(kind).body as { error: { message: string; code: string | null } };
    return event("error", { ...error, type: "error", sequence_number: 99 });
  },
};

function response(reply: Reply, request: WireRequest) {
  const isComplete = finishOf(reply) !== "length";
  return {
    id: reply.id ?? STANDING_ID,
    object: "response",
    created_at: 1_741_476_542,
    status: isComplete ? "completed" : "incomplete",
    error: null,
    incomplete_details: isComplete ? null : { reason: "max_output_tokens" },
    model: modelOf(reply, request),
    output: items(reply),
    usage: usage(reply.usage),
  };
}

type Item = Readonly<Record<string, unknown>> & { readonly type: string; readonly id: string };

function items(reply: Reply): readonly Item[] {
  const { text = "", reasoning, seal, id = "1", toolCalls = [] } = reply;
  const content =
    finishOf(reply) === "refusal"
      ? [{ type: "refusal", refusal: text }]
      : [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: "reasoning",
            id: `rs_${id}`,
            summary: [{ type: "summary_text", text: reasoning }],
            ...(seal !== undefined && { encrypted_content: seal }),
          },
        ]),
    ...(reply.text === undefined
      ? []
      : [{ type: "message", id: `msg_${id}`, status: "completed", role: "assistant", content }]),
    ...toolCalls.map((call) => ({
      type: "function_call",
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.name,
      ...(call.namespace !== undefined && { namespace: call.namespace }),
      arguments: JSON.stringify(call.input),
      status: "completed",
    })),
  ];
}

function itemEvents(item: Item, output_index: number): readonly WireEvent[] {
  const place = { item_id: item.id, output_index, content_index: 0 };
  const added = event("response.output_item.added", { output_index, item: emptied(item) });
  const done = event("response.output_item.done", { output_index, item });
  if (item.type === "message") return [added, ...contentEvents(item, place), done];
  if (item.type === "function_call")
    return [
      added,
      event("response.function_call_arguments.delta", { ...place, delta: item.arguments }),
      done,
    ];
  return [added, done];
}

function contentEvents(item: Item, place: object): readonly WireEvent[] {
  const [part] = item.content as readonly { type: string; text?: string; refusal?: string }[];
  if (part?.type === "refusal") {
    return [
      event("response.refusal.delta", { ...place, delta: part.refusal }),
      event("response.refusal.done", { ...place, refusal: part.refusal }),
    ];
  }
  return [
    event("response.content_part.added", {
      ...place,
      part: { type: "output_text", text: "", annotations: [] },
    }),
    ...pieces(part?.text ?? "").map((delta) =>
      event("response.output_text.delta", { ...place, delta, logprobs: [] }),
    ),
    event("response.output_text.done", { ...place, text: part?.text, logprobs: [] }),
    event("response.content_part.done", { ...place, part }),
  ];
}

/** An item as announced, without content. */
function emptied(item: Item): Item {
  return {
    ...item,
    ...(item.type === "message" && { status: "in_progress", content: [] }),
    ...(item.type === "reasoning" && { summary: [] }),
    ...(item.type === "function_call" && { status: "in_progress", arguments: "" }),
  };
}

function usage(
  { input, output, cacheRead = 0, cacheWrite, reasoning = 0 }: WireUsage = { input: 10, output: 5 },
) {
  const inputTokens = input + cacheRead + (cacheWrite ?? 0);
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cacheRead,
      ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: inputTokens + output,
  };
}

function event(type: string, fields: object): WireEvent {
  return { event: type, data: { type, ...fields } };
}
