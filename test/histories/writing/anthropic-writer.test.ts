import { describe, expect, test } from "vitest";
import { anthropicFormat } from "../../../src/histories/api-formats.ts";
import { clineFormat } from "../../../src/histories/cline/cline-format.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import { anthropicWriter } from "../../../src/histories/writers.ts";
import type { MessageInput } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { writeTask } from "../cline/task-folder.ts";
import { exported, PICTURE, reimport, roundTrip, written } from "./round-trip.ts";

const talk: readonly MessageInput[] = [
  { role: "system", text: "Be brief." },
  {
    role: "user",
    parts: [
      { type: "text", text: "What is this?" },
      { type: "data", data: PICTURE },
    ],
  },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "I look.", opaque: "c2lnbmF0dXJl+/=" },
      { type: "reasoning", text: "", opaque: { redacted: "ZW5jcnlwdGVk" } },
      { type: "text", text: "Let me see." },
      { type: "tool-call", callId: "toolu_1", name: "look", input: { at: [1, { deep: null }] } },
      { type: "tool-call", callId: "toolu_2", name: "smell", input: {} },
    ],
  },
  {
    role: "tool",
    parts: [
      {
        type: "tool-result",
        callId: "toolu_1",
        output: [
          { type: "text", text: "seen" },
          { type: "data", data: PICTURE },
        ],
      },
      { type: "tool-result", callId: "toolu_2", isError: true, output: "no nose" },
    ],
  },
  { role: "assistant", text: "A dot." },
];

describe("writing Anthropic messages", () => {
  test("written Anthropic messages are read again as the same messages", async () => {
    const { before, after } = await roundTrip(talk, anthropicWriter, anthropicFormat);
    expect(after).toEqual(before);
    expect(after).toHaveLength(5);
  });

  test("the system prompt is written next to the messages, and roles alternate", async () => {
    const request = (await exported(
      [
        { role: "system", text: "One." },
        { role: "system", text: "Two." },
        { role: "user", text: "a" },
        { role: "user", text: "b" },
        { role: "assistant", text: "c" },
        { role: "assistant", text: "d" },
        { role: "user", text: "e" },
      ],
      anthropicWriter,
    )) as { system: unknown; messages: { role: string; content: { text: string }[] }[] };
    expect(request.system).toEqual([
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
    ]);
    expect(request.messages.map(({ role, content }) => [role, content.map(({ text }) => text)])).toEqual([
      ["user", ["a", "b"]],
      ["assistant", ["c", "d"]],
      ["user", ["e"]],
    ]);
  });

  test("results are written first after their calls, whatever was said in between", async () => {
    const { messages } = (await exported(
      [
        { role: "user", text: "go" },
        { role: "assistant", parts: [{ type: "tool-call", callId: "a", name: "run", input: {} }] },
        { role: "user", text: "hurry" },
        { role: "tool", parts: [{ type: "tool-result", callId: "a", output: "done" }] },
        { role: "assistant", text: "ok" },
      ],
      anthropicWriter,
    )) as { messages: { role: string; content: { type: string }[] }[] };
    expect(messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ["user", "text"],
      ["assistant", "tool_use"],
      ["user", "tool_result", "text"],
      ["assistant", "text"],
    ]);
  });

  test("a call without a result gets a placeholder, which an import drops again", async () => {
    const open: readonly MessageInput[] = [
      { role: "user", text: "go" },
      { role: "assistant", parts: [{ type: "tool-call", callId: "a", name: "run", input: {} }] },
      { role: "user", text: "stop" },
      { role: "assistant", parts: [{ type: "tool-call", callId: "b", name: "run", input: {} }] },
    ];
    const { messages } = (await exported(open, anthropicWriter)) as { messages: { content: unknown[] }[] };
    const missing = { type: "tool_result", content: "[no result recorded]", is_error: true };
    expect(messages[2]?.content).toEqual([
      { ...missing, tool_use_id: "a" },
      { type: "text", text: "stop" },
    ]);
    expect(messages[4]?.content).toEqual([{ ...missing, tool_use_id: "b" }]);
    const { before, after } = await roundTrip(open, anthropicWriter, anthropicFormat);
    expect(after).toEqual(before);
  });

  test("calls of consecutive messages are answered in one message", async () => {
    const call = (callId: string): MessageInput => ({
      role: "assistant",
      parts: [{ type: "tool-call", callId, name: "run", input: {} }],
    });
    const answer = (callId: string) => ({ type: "tool-result", callId, output: "ok" }) as const;
    const { messages } = (await exported(
      [
        call("a"),
        call("b"),
        { role: "tool", parts: [answer("a"), answer("b")] },
        { role: "assistant", text: "done" },
      ],
      anthropicWriter,
    )) as { messages: { content: { type: string }[] }[] };
    expect(messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ["tool_use", "tool_use"],
      ["tool_result", "tool_result"],
      ["text"],
    ]);
  });

  test("a result without an open call becomes text, because Anthropic would refuse it", async () => {
    const { messages } = (await exported(
      [
        { role: "user", text: "go" },
        { role: "assistant", text: "gone" },
        { role: "tool", parts: [{ type: "tool-result", callId: "x", output: "late" }] },
      ],
      anthropicWriter,
    )) as { messages: { content: unknown[] }[] };
    expect(messages[2]?.content).toEqual([
      { type: "text", text: "[result of the call x]" },
      { type: "text", text: "late" },
    ]);
  });

  test("content that Anthropic would refuse is dropped or adapted", async () => {
    const { messages } = (await exported(
      [
        {
          role: "user",
          parts: [
            { type: "text", text: " " },
            { type: "raw", format: "codex", value: { a: 1 } },
            { type: "text", text: "hi" },
          ],
        },
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "unsigned" },
            { type: "reasoning", text: "of another", opaque: { encrypted_content: "x" } },
            { type: "tool-call", callId: "call|1", name: "a.b", input: "text" },
          ],
        },
        { role: "tool", parts: [{ type: "tool-result", callId: "call|1", output: "ok" }] },
      ],
      anthropicWriter,
    )) as { messages: { content: unknown[] }[] };
    expect(messages.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "hi" }],
      [{ type: "tool_use", id: "call_1", name: "a_b", input: { input: "text" } }],
      [{ type: "tool_result", tool_use_id: "call_1", content: "ok" }],
    ]);
  });

  test("later system messages follow a message of the user", async () => {
    const { messages } = (await exported(
      [
        { role: "user", text: "a" },
        { role: "assistant", text: "b" },
        { role: "system", text: "now plan" },
        { role: "user", text: "c" },
        { role: "assistant", text: "d" },
      ],
      anthropicWriter,
    )) as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "system", "assistant"]);
  });

  test("reasoning of other tools is kept only with Anthropic's signature", async () => {
    const kernel = await testKernel();
    const ts = 1_700_000_000_000;
    const text = { type: "text", text: "It fails." };
    const signed = { type: "thinking", thinking: "hm", signature: "c2lnbmF0dXJl" };
    const task = writeTask(testFolder(), String(ts), {
      "api_conversation_history.json": [
        { role: "user", content: [{ type: "text", text: "<task>\nWhy?\n</task>" }], ts },
        { role: "assistant", content: [{ type: "thinking", thinking: "so", summary: [] }, text], ts },
        { role: "user", content: [{ type: "text", text: "Really?" }], ts },
        { role: "assistant", content: [signed, text], ts },
      ],
      "ui_messages.json": [{ ts, type: "say", say: "text", text: "Why?" }],
    });
    const { sources } = await importSources(kernel, [task], { formats: [clineFormat] });
    const request = JSON.parse(await written(kernel, sources[0]?.session as string, anthropicWriter));
    const said = request.messages.filter(({ role }: { role: string }) => role === "assistant");
    expect(said.map(({ content }: { content: unknown }) => content)).toEqual([[text], [signed, text]]);
  });

  test("imported Anthropic messages are written back unchanged", async () => {
    const request = {
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "without a signature" },
            { type: "server_tool_use", id: "srv", name: "web_search", input: { query: "x" } },
            { type: "tool_use", id: "a", name: "run", input: {}, caller: { type: "direct" } },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "a", is_error: false, content: "ok" }],
        },
      ],
    };
    const { before, after, text } = await reimport(JSON.stringify(request), anthropicFormat, anthropicWriter);
    expect(after).toEqual(before);
    expect(JSON.parse(text)).toEqual(request);
  });
});
