import type { Answer } from "./upstream.ts";

/** Usage of a prompt in Anthropic's format. */
export interface PromptUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

/** Usage of a prompt of that size, cached except for its end. */
export function usageOf(bytes: number): PromptUsage {
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN);
  const written = Math.min(tokens, 500);
  return {
    input_tokens: 0,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: tokens - written,
  };
}

/** Token density assumed by the simulated providers. */
export const BYTES_PER_TOKEN = 3.7;

/** The model's reply in a turn: text and a tool call. */
export interface Turn {
  readonly id: string;
  readonly text: string;
  readonly path: string;
}

/** The reply of a named turn; deterministic. */
export function turnOf(name: string): Turn {
  return { id: `toolu_${name}`, text: `Reading the next file for ${name}.`, path: `/repo/src/${name}.ts` };
}

/** A turn as Anthropic streams it. */
export function streamed({ id, text, path }: Turn, usage: PromptUsage): Answer {
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: "bench",
    content: [],
    usage: { ...usage, output_tokens: 1 },
  };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id, name: "Read", input: {} },
    },
    {
      type: "content_block_delta",
      index: 1,
      delta: { type: "input_json_delta", partial_json: JSON.stringify({ file_path: path }) },
    },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 40 } },
    { type: "message_stop" },
  ];
  return { status: 200, type: "text/event-stream", chunks: [Buffer.from(events.map(eventText).join(""))] };
}

/** A stream of one long text in small events, several per write. */
export function longStream(events: number, eventsPerWrite: number): Answer {
  const [start, open] = streamed(turnOf("long"), usageOf(4_000)).chunks.join("").split("\n\n");
  const delta = { type: "text_delta", text: 'a few words, "quoted" and\nbroken ' };
  const piece = eventText({ type: "content_block_delta", index: 0, delta });
  const write = Buffer.from(piece.repeat(eventsPerWrite));
  const rest = [
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: events } },
    { type: "message_stop" },
  ];
  return {
    status: 200,
    type: "text/event-stream",
    chunks: [
      Buffer.from(`${start}\n\n${open}\n\n`),
      ...Array.from({ length: Math.ceil(events / eventsPerWrite) }, () => write),
      Buffer.from(rest.map(eventText).join("")),
    ],
  };
}

/** The error reply for a prompt that is too long, in Anthropic's format. */
export function overflow(tokens: number, limit: number): Answer {
  const message = `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  const body = { type: "error", error: { type: "invalid_request_error", message } };
  return { status: 400, type: "application/json", chunks: [Buffer.from(JSON.stringify(body))] };
}

function eventText(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
