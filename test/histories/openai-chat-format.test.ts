import { describe, expect, test } from "vitest";
import { openaiChatFormat } from "../../src/histories/api-formats.ts";
import { PIXEL_PNG } from "../support/pixel.ts";
import { lines, readText, words } from "./wire/reading-wire.ts";

describe("chat completions", () => {
  test("calls, results, images and reasoning become parts", async () => {
    const { messages } = await readText(
      openaiChatFormat,
      JSON.stringify([
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            words("look"),
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL_PNG}` } },
          ],
        },
        {
          role: "assistant",
          content: "",
          reasoning_content: "hm",
          tool_calls: [{ id: "a", type: "function", function: { name: "run", arguments: '{"x": 1}' } }],
        },
        { role: "tool", tool_call_id: "a", content: "done" },
        { role: "assistant", content: "ok" },
      ]),
    );
    expect(messages).toEqual([
      ["#0", "system", [words("Be brief.")]],
      ["#1", "user", [words("look"), { type: "data", data: PIXEL_PNG }]],
      [
        "#2",
        "assistant",
        [
          { type: "reasoning", text: "hm" },
          { type: "tool-call", callId: "a", name: "run", input: { x: 1 } },
        ],
      ],
      ["#3", "tool", [{ type: "tool-result", callId: "a", output: "done" }]],
      ["#4", "assistant", [words("ok")]],
    ]);
  });

  test("the name of a user or an assistant is the speaker, and names of tools and instructions are not", async () => {
    const said = [
      { role: "system", name: "example_user", content: "Be brief." },
      { role: "user", name: "alice", content: "hello" },
      { role: "assistant", name: "planner", content: "hi" },
      { role: "function", name: "run", content: "done" },
    ];
    const { items } = await readText(openaiChatFormat, JSON.stringify(said));
    const metas = items.flatMap((item) =>
      item.type === "record" && item.body.kind === "message" ? [item.body.message.meta] : [],
    );
    expect(metas.map((meta) => meta?.speaker)).toEqual([undefined, "alice", "planner", undefined]);
    expect(metas[1]?.["openai-chat"]).toEqual({ name: "alice" });
  });

  test("function calls of the first version of the API are read as calls", async () => {
    const { messages } = await readText(
      openaiChatFormat,
      JSON.stringify([
        { role: "assistant", content: null, function_call: { name: "run", arguments: "{}" } },
        { role: "function", name: "run", content: "done" },
      ]),
    );
    expect(messages.map(([, , parts]) => parts)).toEqual([
      [{ type: "tool-call", callId: "call-#0", name: "run", input: {} }],
      [{ type: "tool-result", callId: "call-#0", name: "run", output: "done" }],
    ]);
  });

  test("a response is read by its first choice, keeps the others, and separates cached tokens", async () => {
    const choice = (index: number, content: string) => ({
      index,
      finish_reason: "stop",
      message: { role: "assistant", content },
    });
    const { records } = await readText(
      openaiChatFormat,
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1_760_000_000,
        model: "gpt-9",
        choices: [choice(0, "a"), choice(1, "b")],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      }),
    );
    expect(records).toMatchObject([
      { id: "chatcmpl-1", at: 1_760_000_000_000, body: { message: { model: "gpt-9", parts: [words("a")] } } },
      { id: "chatcmpl-1:choice-1", body: { kind: "raw" } },
      {
        id: "chatcmpl-1:usage",
        body: {
          model: "gpt-9",
          usage: { inputTokens: 40, cacheReadTokens: 60, outputTokens: 20, reasoningTokens: 5 },
        },
      },
    ]);
  });

  test("the lines of a batch file are read as requests", async () => {
    const { messages } = await readText(
      openaiChatFormat,
      lines({
        custom_id: "1",
        method: "POST",
        url: "/v1",
        body: { model: "m", messages: [{ role: "user", content: "hi" }] },
      }),
      "batch.jsonl",
    );
    expect(messages).toEqual([["L1#0", "user", [words("hi")]]]);
  });

  test("a tool result waits for its media in the next message, and is read without them at the end", async () => {
    const mark = "[media 1 of a is in the next user message]";
    const tool = { role: "tool", tool_call_id: "a", content: [words(mark)] };
    const alone = await readText(openaiChatFormat, JSON.stringify([tool]));
    expect(alone.messages).toEqual([
      ["#0", "tool", [{ type: "tool-result", callId: "a", output: [words(mark)] }]],
    ]);
    const other = await readText(openaiChatFormat, JSON.stringify([tool, { role: "user", content: "hi" }]));
    expect(other.messages.map(([id]) => id)).toEqual(["#0", "#1"]);
  });
});
