import { expect } from "vitest";
import type { WireName, WireObject } from "../../../../src/wire/wire.ts";

/** A tool call as a client sees it. */
export interface SeenCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A reply as a strict client assembles it. */
export interface Seen {
  readonly id: unknown;
  /** Each text separately; Chat Completions has one per message. */
  readonly texts: readonly string[];
  readonly calls: readonly SeenCall[];
  readonly stop: unknown;
  readonly usage: WireObject | undefined;
  /** The elements that the client sends back for it. */
  readonly elements: readonly WireObject[];
}

// biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields.
type Loose = any;

/** Parses a body. */
export function seenBody(api: WireName, body: Loose): Seen {
  if (api === "anthropic") return ofBlocks(body.id, body.content, body.stop_reason, body.usage);
  if (api === "openai-chat") {
    const { message, finish_reason } = body.choices[0];
    return ofChat(body.id, message.content ?? "", message.tool_calls ?? [], finish_reason, body.usage);
  }
  return ofItems(body.id, body.output, body.status, body.usage);
}

/** Parses a stream and checks that it is well-formed. */
export function seenStream(api: WireName, text: string): Seen {
  const events = text
    .split("\n\n")
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined);
  if (api === "openai-chat") return chatStream(events);
  const values = events.map((data) => JSON.parse(data));
  return api === "anthropic" ? anthropicStream(values) : responsesStream(values);
}

function anthropicStream(events: readonly Loose[]): Seen {
  const blocks: Loose[] = [];
  let open: Loose;
  let message: Loose;
  let stop: unknown;
  let usage: Loose;
  let isOver = false;
  for (const event of events) {
    expect(isOver).toBe(false);
    if (event.type === "message_start") {
      expect(message).toBeUndefined();
      message = event.message;
      usage = { ...message.usage };
    } else if (event.type === "content_block_start") {
      expect(open).toBeUndefined();
      expect(event.index).toBe(blocks.length);
      open = { ...event.content_block, partial: "" };
    } else if (event.type === "content_block_delta") {
      expect(event.index).toBe(blocks.length);
      if (event.delta.type === "text_delta") open.text += event.delta.text;
      if (event.delta.type === "input_json_delta") open.partial += event.delta.partial_json;
    } else if (event.type === "content_block_stop") {
      expect(event.index).toBe(blocks.length);
      const { partial, ...block } = open;
      blocks.push(partial === "" ? block : { ...block, input: JSON.parse(partial) });
      open = undefined;
    } else if (event.type === "message_delta") {
      expect(stop).toBeUndefined();
      stop = event.delta.stop_reason;
      usage = { ...usage, ...event.usage };
    } else if (event.type === "message_stop") isOver = true;
  }
  expect(isOver).toBe(true);
  return ofBlocks(message.id, blocks, stop, usage);
}

function chatStream(events: readonly string[]): Seen {
  expect(events.at(-1)).toBe("[DONE]");
  const chunks: Loose[] = events.slice(0, -1).map((data) => JSON.parse(data));
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  const calls: Loose[] = [];
  let content = "";
  const stops: unknown[] = [];
  let usage: Loose;
  for (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    const choice = chunk.choices[0];
    if (!choice) continue;
    expect(stops).toEqual([]);
    content += choice.delta.content ?? "";
    for (const { index, function: called, ...call } of choice.delta.tool_calls ?? []) {
      expect(index).toBeLessThanOrEqual(calls.length);
      calls[index] ??= { ...call, function: { ...called, arguments: "" } };
      calls[index].function.arguments += called.arguments;
    }
    if (choice.finish_reason !== null) stops.push(choice.finish_reason);
  }
  expect(stops).toHaveLength(1);
  return ofChat(chunks[0]?.id, content, calls, stops[0], usage);
}

function responsesStream(events: readonly Loose[]): Seen {
  const items: Loose[] = [];
  const deltas: string[] = [];
  let first: Loose;
  let last: Loose;
  for (const [index, event] of events.entries()) {
    expect(last).toBeUndefined();
    expect(event.sequence_number).toBe(index);
    if (event.type === "response.created") {
      expect(first).toBeUndefined();
      first = event.response;
    } else if (event.type === "response.output_item.done") {
      expect(event.output_index).toBe(items.length);
      items.push(event.item);
    } else if (event.output_index !== undefined) expect(event.output_index).toBe(items.length);
    if (event.type === "response.output_text.delta")
      deltas[items.length] = (deltas[items.length] ?? "") + event.delta;
    if (["response.completed", "response.incomplete"].includes(event.type)) last = event.response;
  }
  expect(last.id).toBe(first.id);
  expect(last.output.map(withoutIds)).toEqual(items.map(withoutIds));
  const seen = ofItems(last.id, items, last.status, last.usage);
  expect(deltas.filter((text) => text !== undefined)).toEqual(seen.texts);
  return seen;
}

function withoutIds({ id: _, ...item }: Loose): Loose {
  return item;
}

function ofBlocks(id: unknown, blocks: readonly Loose[], stop: unknown, usage: Loose): Seen {
  return {
    id,
    texts: blocks.flatMap(({ type, text }) => (type === "text" ? [text] : [])),
    calls: blocks.flatMap(({ type, id: callId, name, input }) =>
      type === "tool_use" ? [{ id: callId, name, input }] : [],
    ),
    stop,
    usage,
    elements: blocks.length > 0 ? [{ role: "assistant", content: blocks }] : [],
  };
}

function ofChat(id: unknown, content: string, calls: readonly Loose[], stop: unknown, usage: Loose): Seen {
  return {
    id,
    texts: content === "" ? [] : [content],
    calls: calls.map(({ id: callId, function: { name, arguments: input } }) => ({
      id: callId,
      name,
      input: JSON.parse(input),
    })),
    stop,
    usage,
    elements: [{ role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) }],
  };
}

function ofItems(id: unknown, items: readonly Loose[], stop: unknown, usage: Loose): Seen {
  return {
    id,
    texts: items.flatMap(({ type, content }) =>
      type === "message" ? content.map(({ text }: Loose) => text) : [],
    ),
    calls: items.flatMap(({ type, call_id, name, arguments: input }) =>
      type === "function_call" ? [{ id: call_id, name, input: JSON.parse(input) }] : [],
    ),
    stop,
    usage,
    elements: items,
  };
}
