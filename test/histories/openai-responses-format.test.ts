import { describe, expect, test } from "vitest";
import { openaiResponsesFormat } from "../../src/histories/api-formats.ts";
import { lines, readText, words } from "./wire/reading-wire.ts";

const user = (text: string) => ({ role: "user", content: [{ type: "input_text", text }] });
const assistant = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const call = { type: "function_call", call_id: "a", name: "run", arguments: '{"x":1}' };
const output = { type: "function_call_output", call_id: "a", output: "done" };
const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "eA==",
};

describe("OpenAI responses", () => {
  test("the items of one turn form one message", async () => {
    const { messages } = await readText(
      openaiResponsesFormat,
      JSON.stringify({
        instructions: "Be brief.",
        input: [user("go"), reasoning, assistant("I run"), call, output, assistant("ok")],
      }),
    );
    expect(messages).toEqual([
      ["instructions", "system", [words("Be brief.")]],
      ["#0", "user", [words("go")]],
      [
        "rs_1",
        "assistant",
        [
          { type: "reasoning", text: "hm", opaque: { id: "rs_1", encrypted_content: "eA==" } },
          words("I run"),
          { type: "tool-call", callId: "a", name: "run", input: { x: 1 } },
        ],
      ],
      ["#4", "tool", [{ type: "tool-result", callId: "a", output: "done" }]],
      ["#5", "assistant", [words("ok")]],
    ]);
  });

  test("a response is read with its output and usage", async () => {
    const { records } = await readText(
      openaiResponsesFormat,
      JSON.stringify({
        id: "resp_1",
        object: "response",
        created_at: 1_760_000_000,
        model: "gpt-9",
        output: [reasoning, assistant("hi")],
        usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 2 },
      }),
    );
    expect(records).toMatchObject([
      { id: "rs_1", body: { kind: "message" } },
      {
        id: "resp_1:usage",
        body: { model: "gpt-9", usage: { inputTokens: 6, cacheReadTokens: 4, outputTokens: 2 } },
      },
    ]);
  });

  test("an input of plain text is read as the user's message", async () => {
    const { messages } = await readText(
      openaiResponsesFormat,
      JSON.stringify({ model: "gpt-9", input: "hi" }),
    );
    expect(messages).toEqual([["#0", "user", [words("hi")]]]);
  });

  test("a request with the id of an earlier response continues its conversation", async () => {
    const exchange = (id: string, previous: string | null, input: string, said: string) => ({
      request: { model: "gpt-9", previous_response_id: previous, input: [user(input)] },
      response: { id, object: "response", output: [assistant(said)] },
    });
    const { messages, records } = await readText(
      openaiResponsesFormat,
      lines(exchange("r1", null, "a", "b"), exchange("r2", "r1", "c", "d"), exchange("r3", "r1", "e", "f")),
      "log.jsonl",
    );
    expect(messages.map(([, , parts]) => parts)).toEqual([..."abcdef"].map((letter) => [words(letter)]));
    expect(records.find(({ id }) => id === "L3#0")?.parent).toBe("L1:response:output#0");
    expect(records.find(({ id }) => id === "L2#0")?.parent).toBeUndefined();
  });

  test("items on separate lines are grouped into turns", async () => {
    const { messages } = await readText(
      openaiResponsesFormat,
      lines(user("go"), reasoning, call, output),
      "items.jsonl",
    );
    expect(messages.map(([id, role]) => [id, role])).toEqual([
      ["L1", "user"],
      ["rs_1", "assistant"],
      ["L4", "tool"],
    ]);
  });
});
