import { describe, expect, test } from "vitest";
import {
  decodeAnthropicMessages,
  decodeOpenaiChatMessages,
  decodeOpenaiResponsesMessages,
  encodeAnthropicMessages,
  encodeOpenaiChatMessages,
  encodeOpenaiResponsesMessages,
} from "../../src/wire/index.ts";
import { PNG } from "./elements.ts";

const request = {
  model: "claude-4",
  system: "Be brief.",
  messages: [
    { role: "user", content: "What is in a.txt?" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "hello" }] },
  ],
};

describe("converters", () => {
  test("converters turn a request to Anthropic into requests to OpenAI", async () => {
    const messages = decodeAnthropicMessages(request);
    expect(await encodeOpenaiChatMessages(messages)).toEqual({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "What is in a.txt?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "toolu_1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
          ],
        },
        { role: "tool", tool_call_id: "toolu_1", content: "hello" },
      ],
    });
    expect((await encodeOpenaiResponsesMessages(messages)).input.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "function_call",
      "function_call_output",
    ]);
  });

  test("converters put system instructions into the field of each API", async () => {
    const responses = { instructions: "Be brief.", input: "Hello" };
    const messages = decodeOpenaiResponsesMessages(responses);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect((await encodeOpenaiResponsesMessages(messages)).instructions).toBe("Be brief.");
    expect((await encodeAnthropicMessages(messages)).system).toEqual([{ type: "text", text: "Be brief." }]);
  });

  test.each([
    ["base64", PNG],
    ["a data URL", `data:image/png;base64,${PNG}`],
    ["bytes", new Uint8Array(Buffer.from(PNG, "base64"))],
  ])("converters carry media given as %s", async (_, data) => {
    const seen = [{ role: "user" as const, parts: [{ type: "data" as const, data }] }];
    const { messages } = await encodeOpenaiChatMessages(seen);
    expect(messages).toEqual([
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
      },
    ]);
    expect(decodeOpenaiChatMessages(messages)).toMatchObject([{ parts: [{ type: "data", data: PNG }] }]);
  });

  test("converters load blobs from the given source, and name the option if there is none", async () => {
    const blob = { type: "blob" as const, digest: "0".repeat(64), sizeBytes: 68, mime: "image/png" };
    const messages = [{ role: "user" as const, parts: [blob] }];
    await expect(encodeAnthropicMessages(messages)).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      message: expect.stringContaining("pass `source`"),
    });
    const source = { base64: async () => PNG, restore: async (part: never) => part };
    expect(JSON.stringify(await encodeAnthropicMessages(messages, source))).toContain(PNG);
  });

  test("converters refuse values that are not messages, by name", () => {
    expect(() => decodeAnthropicMessages({ model: "claude-4" })).toThrow("request with `messages`");
    expect(() => decodeOpenaiChatMessages(["hello"] as never)).toThrow("messages[0]");
  });
});
