import { describe, expect, test } from "vitest";
import { joinNote } from "../../../../src/server/gateway/outgoing/join-note.ts";

const NOTE = "[2 messages left out]";
const chatNote = { role: "user", content: NOTE };
const itemNote = { type: "message", role: "user", content: [{ type: "input_text", text: NOTE }] };
const googleNote = { role: "user", parts: [{ text: NOTE }] };
const answer = (response: object) => ({ functionResponse: { id: "f1", name: "read", response } });

describe("joinNote", () => {
  test("a note stands at the end of the tool message of Chat Completions before it", () => {
    const tool = { role: "tool", tool_call_id: "c1", content: "long" };
    expect(joinNote("openai-chat", tool, chatNote)).toEqual({ ...tool, content: `long\n\n${NOTE}` });
    const text = { type: "text", text: "long" };
    expect(joinNote("openai-chat", { ...tool, content: [text] }, chatNote)).toEqual({
      ...tool,
      content: [text, { type: "text", text: NOTE }],
    });
    expect(joinNote("openai-chat", { ...tool, content: "" }, chatNote)).toEqual({ ...tool, content: NOTE });
  });

  test("a note stands at the end of the output of the Responses API before it", () => {
    const item = { type: "function_call_output", call_id: "c1", output: "long" };
    expect(joinNote("openai-responses", item, itemNote)).toEqual({ ...item, output: `long\n\n${NOTE}` });
    expect(joinNote("openai-responses", { ...item, output: [] }, itemNote)).toEqual({
      ...item,
      output: [{ type: "input_text", text: NOTE }],
    });
    const screen = { type: "computer_call_output", call_id: "c1", output: { type: "computer_screenshot" } };
    expect(joinNote("openai-responses", screen, itemNote)).toBeUndefined();
  });

  test.each([
    [{ output: "long" }, { output: `long\n\n${NOTE}` }],
    [{ result: "long" }, { result: `long\n\n${NOTE}` }],
    [{ rows: [1] }, { rows: [1], note: NOTE }],
  ])("a note stands in the last response %j of a function of Gemini", (response, joined) => {
    const before = { role: "user", parts: [answer({ output: "other" }), answer(response)] };
    expect(joinNote("google", before, googleNote)).toEqual({
      role: "user",
      parts: [answer({ output: "other" }), answer(joined)],
    });
  });

  test("a note does not join messages of people and replies, nor the results of Anthropic", () => {
    expect(joinNote("openai-chat", { role: "user", content: "hello" }, chatNote)).toBeUndefined();
    expect(joinNote("openai-chat", { role: "assistant", content: "hello" }, chatNote)).toBeUndefined();
    expect(joinNote("google", { role: "user", parts: [{ text: "hello" }] }, googleNote)).toBeUndefined();
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "long" }] };
    expect(joinNote("anthropic", result, chatNote)).toBeUndefined();
  });

  test("a note with other content than text keeps its place", () => {
    const tool = { role: "tool", tool_call_id: "c1", content: "long" };
    const image = { role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] };
    expect(joinNote("openai-chat", tool, image)).toBeUndefined();
  });
});
