import { describe, expect, test } from "vitest";
import { aiSdkFormat } from "../../../src/histories/ai-sdk/ai-sdk-format.ts";
import { aiSdkUiWriter, aiSdkWriter } from "../../../src/histories/ai-sdk/ai-sdk-writer.ts";
import type { MessageInput } from "../../../src/kernel/index.ts";
import { exported, PICTURE, reimport, roundTrip } from "../writing/round-trip.ts";

type Messages = readonly Readonly<Record<string, unknown>>[];

const partsOf = (messages: unknown, index: number, field: "content" | "parts") =>
  (messages as Messages)[index]?.[field] as Messages;

const talk: readonly MessageInput[] = [
  { role: "system", text: "Be brief." },
  {
    role: "user",
    parts: [
      { type: "text", text: "What is this?" },
      { type: "data", data: PICTURE, name: "dot.png" },
    ],
  },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "I look.", opaque: "c2lnbmF0dXJl+/=" },
      { type: "reasoning", text: "", opaque: { redacted: "ZW5j" } },
      { type: "reasoning", text: "x", opaque: { id: "rs_1", encrypted_content: "Z0FB" } },
      { type: "reasoning", text: "y", opaque: { thoughtSignature: ["of", "another"] } },
      { type: "text", text: "Let me see." },
      { type: "tool-call", callId: "call_1", name: "look", input: { at: [1, { deep: null }] } },
      { type: "text", text: "And smell." },
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
        ],
      },
      { type: "tool-result", callId: "call_2", name: "smell", isError: true, output: "no nose" },
    ],
  },
  { role: "assistant", parts: [{ type: "tool-call", callId: "call_3", name: "look", input: {} }] },
  {
    role: "tool",
    parts: [
      {
        type: "tool-result",
        callId: "call_3",
        name: "look",
        isError: true,
        output: [{ type: "data", data: PICTURE }],
      },
    ],
  },
  { role: "assistant", text: "A dot." },
  { role: "user", text: "thanks" },
];

describe("writing AI SDK messages", () => {
  test("written model messages are read again as the same messages", async () => {
    const { before, after } = await roundTrip(talk, aiSdkWriter, aiSdkFormat);
    expect(after).toEqual(before);
  });

  test("written UI messages are read again as the same messages", async () => {
    const { before, after } = await roundTrip(talk, aiSdkUiWriter, aiSdkFormat);
    expect(after).toEqual(before);
  });

  test("consecutive steps become one UI message whose calls hold their results", async () => {
    const messages = (await exported(talk, aiSdkUiWriter)) as Messages;
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    const parts = partsOf(messages, 2, "parts");
    expect(parts.map(({ type, state }) => [type, state])).toEqual([
      ["step-start", undefined],
      ["reasoning", undefined],
      ["reasoning", undefined],
      ["reasoning", undefined],
      ["reasoning", undefined],
      ["text", undefined],
      ["tool-look", "output-available"],
      ["text", undefined],
      ["tool-smell", "output-error"],
      ["step-start", undefined],
      ["tool-look", "output-available"],
      ["step-start", undefined],
      ["text", undefined],
    ]);
  });

  test("signatures are written where their provider expects them", async () => {
    const messages = await exported(talk, aiSdkWriter);
    const options = partsOf(messages, 2, "content").map(({ providerOptions }) => providerOptions);
    expect(options.slice(0, 4)).toEqual([
      { anthropic: { signature: "c2lnbmF0dXJl+/=" } },
      { anthropic: { redactedData: "ZW5j" } },
      { openai: { itemId: "rs_1", reasoningEncryptedContent: "Z0FB" } },
      { longhaul: { opaque: { thoughtSignature: ["of", "another"] } } },
    ]);
  });

  test("a call without a result stays open in UI messages, and gets an error result in model messages", async () => {
    const open: readonly MessageInput[] = [
      { role: "user", text: "go" },
      { role: "assistant", parts: [{ type: "tool-call", callId: "a", name: "run.it", input: {} }] },
      { role: "user", text: "stop" },
    ];
    const messages = (await exported(open, aiSdkWriter)) as Messages;
    expect(messages[2]?.content).toEqual([
      {
        type: "tool-result",
        toolCallId: "a",
        toolName: "run.it",
        output: { type: "error-text", value: "[no result recorded]" },
      },
    ]);
    for (const writer of [aiSdkWriter, aiSdkUiWriter]) {
      const { before, after } = await roundTrip(open, writer, aiSdkFormat);
      expect(after).toEqual(before);
    }
    const ui = await exported(open, aiSdkUiWriter);
    expect(partsOf(ui, 1, "parts")[1]).toMatchObject({ type: "dynamic-tool", state: "input-available" });
  });

  test("imported model messages are written back unchanged", async () => {
    const messages = [
      {
        role: "system",
        content: "Be brief.",
        providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
      },
      {
        role: "user",
        content: [
          { type: "text", text: "look", providerOptions: { openai: { imageDetail: "low" } } },
          { type: "file", mediaType: "image/png", data: { type: "data", data: PICTURE } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: "https://example.org/a.png" } },
        ],
      },
      {
        role: "assistant",
        content: [
          {
            type: "reasoning",
            text: "hm",
            providerOptions: { anthropic: { signature: "c2ln" }, other: { a: 1 } },
          },
          { type: "tool-call", toolCallId: "a", toolName: "run", input: { a: 1 } },
          { type: "tool-call", toolCallId: "b", toolName: "run", input: {} },
          { type: "tool-call", toolCallId: "c", toolName: "run", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "a",
            toolName: "run",
            output: { type: "json", value: { ok: [1] } },
          },
          {
            type: "tool-result",
            toolCallId: "b",
            toolName: "run",
            output: { type: "error-json", value: null },
          },
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "run",
            output: { type: "execution-denied", reason: "no" },
          },
        ],
      },
    ];
    const { before, after, text } = await reimport(JSON.stringify(messages), aiSdkFormat, aiSdkWriter);
    expect(after).toEqual(before);
    expect(JSON.parse(text)).toEqual(messages);
  });

  test("imported UI messages are written back unchanged", async () => {
    const messages = [
      { id: "u1", role: "user", metadata: { by: "Ada" }, parts: [{ type: "text", text: "hi" }] },
      {
        id: "a1",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "c2ln" } } },
          { type: "source-url", sourceId: "s", url: "https://example.org" },
          {
            type: "tool-run",
            toolCallId: "a",
            state: "output-available",
            input: { a: 1 },
            output: { ok: true },
          },
          {
            type: "dynamic-tool",
            toolName: "find",
            toolCallId: "b",
            state: "output-error",
            input: {},
            errorText: "x",
          },
          { type: "step-start" },
          { type: "data-note", data: { a: 1 } },
          { type: "text", text: "done", providerMetadata: { openai: { itemId: "msg_1" } } },
        ],
      },
      { id: "a2", role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: "and more" }] },
    ];
    const { before, after, text } = await reimport(JSON.stringify(messages), aiSdkFormat, aiSdkUiWriter);
    expect(after).toEqual(before);
    expect(JSON.parse(text)).toEqual(messages);
  });
});
