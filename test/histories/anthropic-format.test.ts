import { describe, expect, test } from "vitest";
import { anthropicFormat } from "../../src/histories/api-formats.ts";
import { lines, readText, words } from "./wire/reading-wire.ts";

const call = { type: "tool_use", id: "toolu_1", name: "run", input: { command: "ls" } };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "a\nb" };

describe("Anthropic messages", () => {
  test("a list of messages is read in order, and each message is named by its position", async () => {
    const { messages } = await readText(
      anthropicFormat,
      JSON.stringify([
        { role: "user", content: "list" },
        { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "c2ln" }, call] },
        { role: "user", content: [result] },
        { role: "user", content: [{ ...result, tool_use_id: "other" }, words("and now")] },
      ]),
    );
    expect(messages).toEqual([
      ["#0", "user", [words("list")]],
      [
        "#1",
        "assistant",
        [
          { type: "reasoning", text: "hm", opaque: "c2ln" },
          { type: "tool-call", callId: "toolu_1", name: "run", input: { command: "ls" } },
        ],
      ],
      ["#2", "tool", [{ type: "tool-result", callId: "toolu_1", output: "a\nb" }]],
      ["#3", "user", [{ type: "tool-result", callId: "other", output: "a\nb" }, words("and now")]],
    ]);
  });

  test("the system prompt of a request comes first, even if it is written last", async () => {
    const { records, session } = await readText(
      anthropicFormat,
      JSON.stringify({
        model: "claude-opus-5",
        max_tokens: 10,
        messages: [{ role: "user", content: "hi" }],
        system: [{ ...words("Be brief."), cache_control: { type: "ephemeral" } }],
        tools: [{ name: "run", description: "x".repeat(3000), input_schema: {} }],
      }),
    );
    expect(records.map(({ id, body }) => [id, body.kind])).toEqual([
      ["system", "message"],
      ["#0", "message"],
      ["tools", "raw"],
    ]);
    expect(records[0]?.body).toMatchObject({
      message: {
        role: "system",
        meta: { anthropic: { extras: { 0: { cache_control: { type: "ephemeral" } } } } },
      },
    });
    expect(session?.meta).toEqual({ anthropic: { model: "claude-opus-5", max_tokens: 10 } });
  });

  test("a response is read as a message with its model, and its usage without overlaps", async () => {
    const { records, source } = await readText(
      anthropicFormat,
      JSON.stringify({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-opus-5",
        content: [words("hello")],
        stop_reason: "end_turn",
        usage: {
          input_tokens: 3,
          output_tokens: 5,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 40,
          cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 10 },
          service_tier: "standard",
        },
      }),
      "response.json",
    );
    expect(source.id).toBe("msg_1");
    expect(records).toMatchObject([
      { id: "msg_1", body: { message: { role: "assistant", model: "claude-opus-5" } } },
      {
        id: "msg_1:usage",
        body: {
          kind: "usage",
          request: "msg_1",
          usage: {
            inputTokens: 3,
            outputTokens: 5,
            cacheReadTokens: 100,
            cacheWriteTokens: 40,
            cacheWriteHourTokens: 10,
          },
          meta: { service_tier: "standard" },
        },
      },
    ]);
  });

  test("a request and its response are one conversation", async () => {
    const { messages } = await readText(
      anthropicFormat,
      JSON.stringify({
        response: { id: "msg_1", role: "assistant", content: [words("hello")] },
        request: { system: "Be brief.", messages: [{ role: "user", content: "hi" }] },
      }),
    );
    expect(messages.map(([id, role]) => [id, role])).toEqual([
      ["system", "system"],
      ["#0", "user"],
      ["msg_1", "assistant"],
    ]);
  });

  test("a JSONL file of messages is read line by line", async () => {
    const { messages } = await readText(
      anthropicFormat,
      lines({ role: "user", content: "hi" }, { id: "msg_1", role: "assistant", content: [words("hello")] }),
      "talk.jsonl",
    );
    expect(messages.map(([id]) => id)).toEqual(["L1", "msg_1"]);
  });

  test("a broken element is reported, and the others are read", async () => {
    const { items, messages } = await readText(
      anthropicFormat,
      `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":"b"},{"role":"assis`,
    );
    expect(messages).toHaveLength(2);
    expect(items.at(-1)).toMatchObject({ type: "problem", severity: "lost" });
  });

  test("a repeated id gives the second record another name", async () => {
    const part = (text: string) => ({ id: "msg_1", role: "assistant", content: [words(text)] });
    const { messages } = await readText(anthropicFormat, JSON.stringify([part("a"), part("b")]));
    expect(messages.map(([id]) => id)).toEqual(["msg_1", "msg_1~2"]);
  });

  test("a field called __proto__ is read like any other", async () => {
    const { records } = await readText(
      anthropicFormat,
      '[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"__proto__":{"x":1}},"__proto__":{"y":2}}]}]',
    );
    expect(JSON.stringify(records)).toContain('"input":{"__proto__":{"x":1}}');
    expect(JSON.stringify(records)).toContain('"extras":{"0":{"__proto__":{"y":2}}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
