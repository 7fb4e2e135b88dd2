import { describe, expect, test } from "vitest";
import { aiSdkFormat } from "../../../src/histories/ai-sdk/ai-sdk-format.ts";
import { readText, words } from "../wire/reading-wire.ts";

describe("AI SDK messages", () => {
  test("each step of a UI message is read as a message, followed by one with its results", async () => {
    const { messages, records } = await readText(
      aiSdkFormat,
      JSON.stringify({
        id: "chat-1",
        messages: [
          { id: "u", role: "user", createdAt: "2026-01-02T03:04:05Z", parts: [words("go")] },
          {
            id: "m",
            role: "assistant",
            metadata: { usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 2 } },
            parts: [
              { type: "step-start" },
              { type: "tool-run", toolCallId: "a", state: "output-available", input: {}, output: { n: 1 } },
              { type: "step-start" },
              { ...words("ok"), state: "done" },
            ],
          },
        ],
      }),
    );
    expect(messages).toEqual([
      ["u", "user", [words("go")]],
      ["m", "assistant", [{ type: "tool-call", callId: "a", name: "run", input: {} }]],
      ["m:results", "tool", [{ type: "tool-result", callId: "a", name: "run", output: '{"n":1}' }]],
      ["m:step-1", "assistant", [words("ok")]],
    ]);
    expect(records[0]?.at).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
    expect(records.at(-1)).toMatchObject({
      id: "m:usage",
      body: { usage: { inputTokens: 6, cacheReadTokens: 4, outputTokens: 2 } },
    });
  });

  test("a conversation is named by its own id", async () => {
    const { source } = await readText(
      aiSdkFormat,
      '{"id":"chat-1","messages":[{"id":"u","role":"user","parts":[]}]}',
    );
    expect(source).toMatchObject({ id: "chat-1", format: "ai-sdk" });
  });

  test("messages of earlier versions of the AI SDK are read", async () => {
    const { messages } = await readText(
      aiSdkFormat,
      JSON.stringify([
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "a", toolName: "run", args: { x: 1 } }],
        },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId: "a", toolName: "run", result: "done", isError: true }],
        },
        {
          id: "m",
          role: "assistant",
          content: "",
          parts: [
            {
              type: "tool-invocation",
              toolInvocation: { state: "result", toolCallId: "b", toolName: "run", args: {}, result: "fine" },
            },
          ],
        },
      ]),
    );
    expect(messages.map(([, , parts]) => parts)).toEqual([
      [words("go")],
      [{ type: "tool-call", callId: "a", name: "run", input: { x: 1 } }],
      [{ type: "tool-result", callId: "a", name: "run", isError: true, output: '"done"' }],
      [{ type: "tool-call", callId: "b", name: "run", input: {} }],
      [{ type: "tool-result", callId: "b", name: "run", output: "fine" }],
    ]);
  });
});
