import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aiSdkFormat } from "../../../src/histories/ai-sdk/ai-sdk-format.ts";
import {
  anthropicFormat,
  openaiChatFormat,
  openaiResponsesFormat,
} from "../../../src/histories/api-formats.ts";
import { testFolder } from "../../support/folder.ts";
import { sourcesAt } from "../../support/items.ts";

const formats = [anthropicFormat, openaiResponsesFormat, aiSdkFormat, openaiChatFormat];

async function formatOf(value: unknown, name = "talk.json"): Promise<string | undefined> {
  const path = join(testFolder(), name);
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  const sources = await sourcesAt([path], formats);
  expect(sources.length).toBeLessThanOrEqual(1);
  return sources[0]?.source.format;
}

const plain = [
  { role: "user", content: "hi" },
  { role: "assistant", content: "hello" },
];

describe("recognising wire formats", () => {
  test.each([
    ["anthropic", [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }]],
    ["anthropic", { system: "s", messages: plain }],
    ["anthropic", { model: "claude-9", messages: plain }],
    ["anthropic", [{ role: "assistant", content: [{ type: "text", text: "hi" }] }]],
    ["anthropic", [{ role: "user", content: [{ type: "image", source: {} }] }]],
    ["openai-chat", plain],
    ["openai-chat", { messages: plain }],
    ["openai-chat", [{ role: "tool", tool_call_id: "a", content: "x" }]],
    ["openai-chat", { model: "anthropic/claude-9", messages: plain }],
    ["openai-chat", { choices: [{ message: { role: "assistant", content: "x" } }] }],
    ["openai-responses", { input: [{ role: "user", content: [{ type: "input_text", text: "x" }] }] }],
    [
      "openai-responses",
      [...plain, { type: "function_call", call_id: "a", name: "b", arguments: "{}" }, ...plain],
    ],
    ["openai-responses", { object: "response", output: [{ type: "reasoning", summary: [] }] }],
    ["ai-sdk", [{ role: "tool", content: [{ type: "tool-result", toolCallId: "a", output: {} }] }]],
    ["ai-sdk", [{ id: "1", role: "user", parts: [{ type: "text", text: "x" }] }]],
    ["ai-sdk", [{ role: "user", content: [{ type: "file", mediaType: "image/png", data: "x" }] }]],
  ])("the format %s is recognized: %j", async (name, value) => {
    expect(await formatOf(value)).toBe(name);
  });

  test.each([
    [{ name: "a-package", version: "1.0.0", dependencies: {} }],
    [{ messages: { hello: "Hallo" } }],
    [{ messages: [] }],
    [[]],
    [[1, 2, 3]],
    [[{ role: "button", content: "x" }]],
    [[{ filePath: "a", messages: [{ ruleId: "x", message: "y" }] }]],
    [[{ role: "user", parts: [{ text: "the way Gemini has it" }] }]],
    [{ input: ["a", "b"], output: "dist" }],
    [[...plain, { ruleId: 1 }, ...plain]],
    [{ role: "user" }],
    ["not JSON at all"],
    ['{"messages": nonsense'],
  ])("no wire format claims %j", async (value) => {
    expect(await formatOf(value)).toBeUndefined();
  });

  test("no wire format claims lines of other tools", async () => {
    const lines = [
      { type: "user", uuid: "1", message: { role: "user", content: "x" } },
      { type: "assistant", uuid: "2", message: { role: "assistant", content: [] } },
    ];
    expect(await formatOf(lines.map((line) => JSON.stringify(line)).join("\n"), "a.jsonl")).toBeUndefined();
  });

  test("a conversation is recognized even if its first message is longer than the head of the file", async () => {
    const long = "x".repeat(200_000);
    expect(
      await formatOf([{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: long }] }]),
    ).toBe("anthropic");
    expect(
      await formatOf({
        model: "m",
        tools: [{ type: "function", function: { description: long } }],
        messages: plain,
      }),
    ).toBe("openai-chat");
  });

  test("a conversation without an id is named by its file or folder, and by the place of the file", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, "run-7"));
    writeFileSync(join(folder, "talk-3.json"), JSON.stringify(plain));
    writeFileSync(join(folder, "run-7", "messages.json"), JSON.stringify(plain));
    const sources = await sourcesAt([folder], formats);
    expect(sources.map(({ source }) => source.id)).toEqual([
      expect.stringMatching(/^talk-3-[\w-]{8}$/),
      expect.stringMatching(/^run-7\/messages-[\w-]{8}$/),
    ]);
  });
});
