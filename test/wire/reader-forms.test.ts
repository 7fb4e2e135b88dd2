import { describe, expect, test } from "vitest";
import type { WireObject } from "../../src/wire/wire.ts";
import { readerOf } from "./spoken.ts";

describe("a reader of Anthropic's streams", () => {
  const block = (index: number, content_block: WireObject) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const delta = (index: number, fields: WireObject) => ({
    type: "content_block_delta",
    index,
    delta: fields,
  });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const begun = {
    type: "message_start",
    message: {
      id: "msg_1",
      model: "claude",
      usage: { input_tokens: 7, cache_read_input_tokens: 90, output_tokens: 1 },
    },
  };
  const ending = [
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 0, output_tokens: 12 },
    },
    { type: "message_stop" },
  ];

  test("a reader of Anthropic's streams keeps signatures, redacted thoughts, citations and unknown blocks", () => {
    const search = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] };
    const reader = readerOf("anthropic", [
      begun,
      block(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm." }),
      delta(0, { type: "signature_delta", signature: "c2ln" }),
      stop(0),
      block(1, { type: "redacted_thinking", data: "b3Bh" }),
      stop(1),
      block(2, { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"query":' }),
      delta(2, { type: "input_json_delta", partial_json: '"x"}' }),
      stop(2),
      block(3, search),
      stop(3),
      block(4, { type: "text", text: "" }),
      delta(4, { type: "text_delta", text: "Found." }),
      delta(4, { type: "citations_delta", citation: { url: "u" } }),
      { type: "something_new" },
      stop(4),
      ...ending,
    ]);
    expect(reader.message()?.parts).toEqual([
      { type: "reasoning", text: "Hm.", opaque: "c2ln" },
      { type: "reasoning", text: "", opaque: { redacted: "b3Bh" } },
      {
        type: "raw",
        format: "anthropic",
        value: { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
      },
      { type: "raw", format: "anthropic", value: search },
      { type: "text", text: "Found." },
    ]);
    expect(reader.stopReason).toBe("end_turn");
    expect(reader.usage).toMatchObject({ inputTokens: 7, cacheReadTokens: 90, outputTokens: 12 });
  });

  test("a reader of Anthropic's streams leaves out a call with incomplete input, even if its block has ended", () => {
    const call = [
      block(0, { type: "tool_use", id: "a", name: "read", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"path": "a' }),
      stop(0),
    ];
    expect(readerOf("anthropic", [begun, ...call, ...ending]).message()).toBeUndefined();
  });

  test("a reader of Anthropic's streams accepts a call without input, and counts repeated events once", () => {
    const start = block(0, { type: "tool_use", id: "a", name: "look", input: {} });
    const reader = readerOf("anthropic", [begun, start, start, stop(0), stop(0), ...ending]);
    expect(reader.message()?.parts).toEqual([{ type: "tool-call", callId: "a", name: "look", input: {} }]);
  });

  test("a reader of Anthropic's streams has not begun before the first text", () => {
    const reader = readerOf("anthropic", [begun, { type: "ping" }, block(0, { type: "text", text: "" })]);
    expect(reader.hasBegun).toBe(false);
    expect(reader.message()).toBeUndefined();
  });
});

describe("a reader of streams of Chat Completions", () => {
  const chunk = (delta: WireObject, finish_reason: string | null = null) => ({
    id: "chat_1",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (index: number, id: string, args: string) => ({
    tool_calls: [{ index, id, type: "function", function: { name: "read", arguments: args } }],
  });
  const more = (index: number, args: string) => ({ tool_calls: [{ index, function: { arguments: args } }] });

  test("a reader of Chat Completions distinguishes calls by number, or by id if all have the same number", () => {
    const byNumber = [
      chunk(call(0, "a", '{"x"')),
      chunk(call(1, "b", "{}")),
      chunk(more(0, ":1}")),
      chunk({}, "tool_calls"),
    ];
    expect(readerOf("openai-chat", byNumber).message()?.parts).toMatchObject([
      { callId: "a", input: { x: 1 } },
      { callId: "b", input: {} },
    ]);
    const byId = [chunk(call(0, "a", '{"x":1}')), chunk(call(0, "b", '{"x":2}')), chunk({}, "stop")];
    expect(readerOf("openai-chat", byId).message()?.parts).toMatchObject([
      { callId: "a", input: { x: 1 } },
      { callId: "b", input: { x: 2 } },
    ]);
  });

  test("a reader of Chat Completions shows calls only at the end, and none that the limit has cut", () => {
    const events = [chunk({ content: "So." }), chunk(call(0, "a", '{"x":1}')), chunk(call(1, "b", '{"y":'))];
    expect(readerOf("openai-chat", events).message()?.parts).toEqual([{ type: "text", text: "So." }]);
    expect(readerOf("openai-chat", [...events, chunk({}, "length")]).message()?.parts).toMatchObject([
      { type: "text" },
      { callId: "a" },
    ]);
  });

  test("a reader of Chat Completions reads refusals, reasoning with details, old function calls, and usage without choices", () => {
    const detail = (text: string, signature?: string) => ({
      reasoning_details: [{ type: "reasoning.text", index: 0, text, signature }],
    });
    const reader = readerOf("openai-chat", [
      chunk({ role: "assistant", content: null, reasoning: "Hm", ...detail("Hm") }),
      chunk({ reasoning: ".", ...detail(".", "c2ln") }),
      chunk({ refusal: "No." }),
      chunk({ function_call: { name: "look", arguments: "" } }),
      chunk({ function_call: { arguments: '{"at":1}' } }),
      chunk({}, "function_call"),
      {
        choices: [],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 2,
          total_tokens: 12,
          prompt_tokens_details: { cached_tokens: 4 },
        },
      },
      { data: "[DONE]" },
    ]);
    expect(reader.message()?.parts).toEqual([
      {
        type: "reasoning",
        text: "Hm.",
        opaque: { reasoning_details: [{ type: "reasoning.text", index: 0, text: "Hm.", signature: "c2ln" }] },
      },
      { type: "raw", format: "openai-chat", value: { type: "refusal", refusal: "No." } },
      { type: "tool-call", callId: "function-look", name: "look", input: { at: 1 } },
    ]);
    expect(reader.usage).toEqual({ inputTokens: 6, cacheReadTokens: 4, outputTokens: 2 });
    expect(reader.isComplete).toBe(true);
  });
});

describe("a reader of streams of the Responses API", () => {
  const done = (output_index: number, item: WireObject) => ({
    type: "response.output_item.done",
    output_index,
    item,
  });
  const call = {
    type: "function_call",
    id: "fc_1",
    call_id: "a",
    name: "read",
    arguments: '{"x":1}',
    status: "completed",
  };

  test("a reader of the Responses API keeps items in order, ciphertext and unknown items included, even if the end lists none", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "b3Bh" };
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } };
    const reader = readerOf("openai-responses", [
      { type: "response.created", response: { id: "resp_1", model: "m", output: [], usage: null } },
      done(1, search),
      done(0, reasoning),
      done(2, call),
      {
        type: "response.completed",
        response: {
          id: "resp_1",
          status: "completed",
          output: [],
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      },
    ]);
    expect(reader.message()?.parts).toMatchObject([
      { type: "reasoning", opaque: { id: "rs_1", encrypted_content: "b3Bh" } },
      { type: "raw", value: search },
      { type: "tool-call", callId: "a", input: { x: 1 } },
    ]);
    expect(reader.model).toBe("m");
    expect(reader.isComplete).toBe(true);
  });

  test("a reader of the Responses API leaves out incomplete calls, and keeps the text", () => {
    const reader = readerOf("openai-responses", [
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "message", role: "assistant", content: [] },
      },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "So" },
      {
        type: "response.output_item.added",
        output_index: 1,
        item: { ...call, arguments: "", status: "in_progress" },
      },
      { type: "response.function_call_arguments.delta", output_index: 1, delta: '{"x":1}' },
    ]);
    expect(reader.message()?.parts).toEqual([{ type: "text", text: "So" }]);
    const cut = { ...call, status: "incomplete", arguments: '{"x"' };
    reader.take({
      data: JSON.stringify({
        type: "response.incomplete",
        response: {
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          output: [
            { type: "message", role: "assistant", content: [{ type: "output_text", text: "So" }] },
            cut,
          ],
        },
      }),
    });
    expect(reader.message()?.parts).toEqual([{ type: "text", text: "So" }]);
    expect(reader.stopReason).toBe("max_output_tokens");
    expect(reader.isComplete).toBe(true);
  });

  test("a reader of the Responses API reports a failed response", () => {
    const response = { status: "failed", error: { code: "context_length_exceeded", message: "too long" } };
    const reader = readerOf("openai-responses", [{ type: "response.failed", response }]);
    expect(reader.failure).toEqual({ body: { response }, message: "too long" });
    expect(reader.isComplete).toBe(false);
  });
});
