import { describe, expect, test } from "vitest";
import { openaiChatFormat } from "../../../src/histories/api-formats.ts";
import { openaiChatWriter } from "../../../src/histories/writers.ts";
import type { MessageInput } from "../../../src/kernel/index.ts";
import { exported, PICTURE, reimport, roundTrip } from "./round-trip.ts";

interface Request {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
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
      { type: "text", text: "Let me see." },
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
        name: "look",
        output: [
          { type: "text", text: "seen" },
          { type: "data", data: PICTURE },
          { type: "text", text: "twice" },
        ],
      },
    ],
  },
  { role: "tool", parts: [{ type: "tool-result", callId: "call_2", isError: true, output: "no nose" }] },
  { role: "assistant", text: "A dot." },
  { role: "user", text: "thanks" },
];

describe("writing chat completions", () => {
  test("written chat completions are read again as the same messages", async () => {
    const { before, after } = await roundTrip(talk, openaiChatWriter, openaiChatFormat);
    expect(after).toEqual(before);
    expect(after).toHaveLength(7);
  });

  test("media of tools are written into a user message after all results", async () => {
    const { messages } = (await exported(talk, openaiChatWriter)) as Request;
    expect(messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
      "assistant",
      "user",
    ]);
    expect(messages[3]).toMatchObject({ tool_call_id: "call_1", name: "look" });
    expect(JSON.stringify(messages[3])).not.toContain(PICTURE);
    expect(messages[4]).toMatchObject({ tool_call_id: "call_2", content: "[tool error]\nno nose" });
    expect(messages[5]?.content).toEqual([
      { type: "text", text: "[media 1 of call_1]" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } },
    ]);
  });

  test("a failed tool with several parts and an image by the assistant survive a round trip", async () => {
    const { before, after } = await roundTrip(
      [
        { role: "user", text: "paint" },
        {
          role: "assistant",
          parts: [
            { type: "data", data: PICTURE },
            { type: "tool-call", callId: "c", name: "save", input: {} },
          ],
        },
        {
          role: "tool",
          parts: [
            { type: "tool-result", callId: "c", isError: true, output: [{ type: "data", data: PICTURE }] },
          ],
        },
        { role: "user", text: "why?" },
      ],
      openaiChatWriter,
      openaiChatFormat,
    );
    expect(after).toEqual(before);
  });

  test("a call without a result gets a placeholder, which an import drops again", async () => {
    const open: readonly MessageInput[] = [
      { role: "user", text: "go" },
      { role: "assistant", parts: [{ type: "tool-call", callId: "a", name: "run", input: {} }] },
      { role: "user", text: "stop" },
    ];
    const { messages } = (await exported(open, openaiChatWriter)) as Request;
    expect(messages[2]).toEqual({ role: "tool", tool_call_id: "a", content: "[no result recorded]" });
    const { before, after } = await roundTrip(open, openaiChatWriter, openaiChatFormat);
    expect(after).toEqual(before);
  });

  test("calls of several messages before the first result are written into one message", async () => {
    const call = (callId: string): MessageInput => ({
      role: "assistant",
      parts: [{ type: "tool-call", callId, name: "run", input: {} }],
    });
    const result = (callId: string): MessageInput => ({
      role: "tool",
      parts: [{ type: "tool-result", callId, output: callId }],
    });
    const { messages } = (await exported(
      [call("a"), { role: "assistant", text: "and" }, call("b"), result("b"), result("a"), call("c")],
      openaiChatWriter,
    )) as Request;
    expect(
      messages.map(({ role, tool_calls: calls }) => [role, (calls as unknown[] | undefined)?.length]),
    ).toEqual([
      ["assistant", 2],
      ["tool", undefined],
      ["tool", undefined],
      ["assistant", 1],
      ["tool", undefined],
    ]);
    expect(messages[0]?.content).toEqual([{ type: "text", text: "and" }]);
  });

  test("reasoning of other providers is dropped, because OpenAI has no field for it", async () => {
    const { messages } = (await exported(
      [
        { role: "user", text: "hi" },
        { role: "assistant", parts: [{ type: "reasoning", text: "hm", opaque: "sig" }] },
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "yes" },
          ],
        },
      ],
      openaiChatWriter,
    )) as Request;
    expect(messages).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "yes" },
    ]);
  });

  test("imported chat completions are written back unchanged", async () => {
    const request = {
      messages: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          name: "Ada",
          content: [
            { type: "text", text: "look", cache_control: { type: "ephemeral" } },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}`, detail: "low" } },
            { type: "image_url", image_url: { url: "https://example.org/a.png" } },
            {
              type: "file",
              file: { filename: "a.pdf", file_data: `data:application/pdf;base64,JVBERi0xLjQK` },
            },
          ],
        },
        {
          role: "assistant",
          content: null,
          reasoning: "hm",
          reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "c2ln+/=" }],
          tool_calls: [
            { id: "a", type: "function", function: { name: "run", arguments: '{"a":1}' } },
            { id: "b", type: "function", function: { name: "run", arguments: '{"broken' } },
            { id: "c", type: "custom", custom: { name: "patch", input: "*** Begin" } },
          ],
        },
        { role: "tool", tool_call_id: "a", content: "ok" },
        {
          role: "tool",
          tool_call_id: "b",
          content: [
            { type: "text", text: "x" },
            { type: "text", text: "y" },
          ],
        },
        { role: "tool", tool_call_id: "c", content: "" },
        { role: "assistant", content: "done", reasoning_content: "short" },
        { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
      ],
    };
    const { before, after, text } = await reimport(
      JSON.stringify(request),
      openaiChatFormat,
      openaiChatWriter,
    );
    expect(after).toEqual(before);
    expect(JSON.parse(text)).toEqual(request);
  });
});
