import { describe, expect, test } from "vitest";
import { openaiResponsesFormat } from "../../../src/histories/api-formats.ts";
import { codexFormat } from "../../../src/histories/codex/codex-format.ts";
import { openaiResponsesWriter } from "../../../src/histories/writers.ts";
import type { MessageInput } from "../../../src/kernel/index.ts";
import { exported, imported, PICTURE, reimport, roundTrip, written } from "./round-trip.ts";

interface Request {
  readonly input: readonly Readonly<Record<string, unknown>>[];
}

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
      { type: "reasoning", text: "I look.", opaque: { id: "rs_1", encrypted_content: "Z0FBQUE+/=" } },
      { type: "text", text: "Let me see." },
      { type: "text", text: "Twice." },
      { type: "tool-call", callId: "call_1", name: "look", input: { at: [1, { deep: null }] } },
      { type: "tool-call", callId: "call_2", name: "smell", input: {} },
    ],
  },
  {
    role: "tool",
    parts: [
      {
        type: "tool-result",
        callId: "call_1",
        output: [
          { type: "text", text: "seen" },
          { type: "data", data: PICTURE },
        ],
      },
    ],
  },
  { role: "tool", parts: [{ type: "tool-result", callId: "call_2", isError: true, output: "no nose" }] },
  { role: "assistant", text: "A dot." },
  { role: "assistant", text: "Really." },
];

describe("writing OpenAI responses", () => {
  test("written OpenAI responses are read again as the same messages", async () => {
    const { before, after } = await roundTrip(talk, openaiResponsesWriter, openaiResponsesFormat);
    expect(after).toEqual(before);
    expect(after).toHaveLength(7);
  });

  test("each part of a turn becomes an item, and reasoning keeps its ciphertext", async () => {
    const { input } = (await exported(talk, openaiResponsesWriter)) as Request;
    expect(input.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "reasoning",
      "message",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
      "message",
      "message",
    ]);
    expect(input[2]).toEqual({
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "Z0FBQUE+/=",
      summary: [{ type: "summary_text", text: "I look." }],
    });
    expect(input[4]).toMatchObject({ call_id: "call_1", arguments: '{"at":[1,{"deep":null}]}' });
  });

  test("an image by the assistant becomes its own item", async () => {
    const { before, after } = await roundTrip(
      [
        { role: "user", text: "paint" },
        {
          role: "assistant",
          parts: [
            { type: "text", text: "here" },
            { type: "data", data: PICTURE },
          ],
        },
      ],
      openaiResponsesWriter,
      openaiResponsesFormat,
    );
    expect(after).toEqual(before);
  });

  test("a call without a result gets a placeholder, which an import drops again", async () => {
    const open: readonly MessageInput[] = [
      { role: "user", text: "go" },
      { role: "assistant", parts: [{ type: "tool-call", callId: "a", name: "run", input: {} }] },
      { role: "user", text: "stop" },
    ];
    const { input } = (await exported(open, openaiResponsesWriter)) as Request;
    expect(input[2]).toEqual({ type: "function_call_output", call_id: "a", output: "[no result recorded]" });
    const { before, after } = await roundTrip(open, openaiResponsesWriter, openaiResponsesFormat);
    expect(after).toEqual(before);
  });

  test("reasoning of Codex is kept unless it is empty, and a second export is the same", async () => {
    const summary = [{ type: "summary_text", text: "I look." }];
    const said = (type: string, role: string, text: string) => ({
      type: "message",
      role,
      content: [{ type, text }],
    });
    const items = [
      said("input_text", "user", "Is it there?"),
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "abc" },
      { type: "reasoning", id: "rs_3", summary },
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "I think." }] },
      said("output_text", "assistant", "Yes."),
    ];
    const id = "0198aaaa-0000-7000-8000-000000000001";
    const lines = [
      { type: "session_meta", payload: { id, timestamp: "2026-08-01T10:00:00.000Z", cwd: "/code" } },
      ...items.map((payload) => ({ type: "response_item", payload })),
    ].map((line) => JSON.stringify({ timestamp: "2026-08-01T10:00:00.000Z", ...line }));
    const name = `rollout-2026-08-01T10-00-00-${id}.jsonl`;
    const first = await imported(`${lines.join("\n")}\n`, codexFormat, name);
    const text = await written(first.kernel, first.session, openaiResponsesWriter);
    expect((JSON.parse(text) as Request).input).toEqual([items[0], ...items.slice(2)]);
    const again = await imported(text, openaiResponsesFormat);
    expect(await written(again.kernel, again.session, openaiResponsesWriter)).toBe(text);
  });

  test("imported OpenAI responses are written back unchanged", async () => {
    const request = {
      instructions: "Be brief.",
      input: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "Careful." }] },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: `data:image/png;base64,${PICTURE}`, detail: "low" },
            { type: "input_image", image_url: "https://example.org/a.png" },
          ],
        },
        {
          type: "reasoning",
          id: "rs_1",
          encrypted_content: "abc",
          summary: [
            { type: "summary_text", text: "a" },
            { type: "summary_text", text: "b" },
          ],
        },
        {
          type: "message",
          id: "msg_1",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "I search" }],
        },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
        {
          type: "function_call",
          call_id: "a",
          name: "run",
          arguments: '{"a":1}',
          id: "fc_1",
          status: "completed",
        },
        { type: "custom_tool_call", call_id: "b", name: "patch", input: "*** Begin", id: "ctc_1" },
        {
          type: "local_shell_call",
          call_id: "c",
          action: { type: "exec", command: ["ls"] },
          status: "completed",
        },
        { type: "function_call_output", call_id: "a", output: "ok" },
        { type: "custom_tool_call_output", call_id: "b", output: "ok" },
        { type: "local_shell_call_output", call_id: "c", output: "ok" },
        { type: "compaction", id: "cmp_1", encrypted_content: "xyz" },
      ],
    };
    const { before, after, text } = await reimport(
      JSON.stringify(request),
      openaiResponsesFormat,
      openaiResponsesWriter,
    );
    expect(after).toEqual(before);
    expect(JSON.parse(text)).toEqual(request);
  });
});
