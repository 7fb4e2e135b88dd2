import { describe, expect, test } from "vitest";
import type { Message, Part } from "../../src/kernel/index.ts";
import { openaiChatWire } from "../../src/wire/openai-chat/openai-chat-wire.ts";
import {
  openaiResponsesWire,
  parseInputItems,
} from "../../src/wire/openai-responses/openai-responses-wire.ts";
import type { Wire, WireObject } from "../../src/wire/wire.ts";
import { PNG } from "./elements.ts";
import { loggedMessages } from "./logged.ts";

const { log, base64Of } = loggedMessages();
const stub: Part = { type: "text", text: "[left out]" };

type Change = (parts: readonly Part[]) => readonly Part[];

async function edit(
  api: Wire,
  own: readonly WireObject[],
  change: Change,
  role?: Message["role"],
  before = own,
) {
  const original = await log(api.decode(before)[0]?.input ?? { role: "user", parts: [] });
  const message = { ...original, parts: change(original.parts), ...(role && { role }) };
  return api.encodeEdited(message, { elements: own, original }, base64Of);
}

const clear: Change = (parts) =>
  parts.map(
    (part): Part =>
      part.type === "tool-result" ? { ...part, output: [{ type: "text", text: "[left out]" }] } : part,
  );
const asWords: Change = (parts) =>
  parts.flatMap((part): readonly Part[] =>
    part.type === "tool-result" ? [{ type: "text", text: "[Result]" }, ...part.output] : [part],
  );
const withoutReasoning: Change = (parts) => parts.filter(({ type }) => type !== "reasoning");
const callsAsWords: Change = (parts) => parts.map((part) => (part.type === "tool-call" ? stub : part));

describe("an edited message of Chat Completions", () => {
  const call = (id: string) => ({
    id,
    type: "function",
    function: { name: "read", arguments: '{ "path": "a.ts" }' },
  });
  const tool = { role: "tool", tool_call_id: "call_1", name: "read", content: "long" };

  test("a cleared result of Chat Completions keeps its id and its plain string, and the mark of a failure", async () => {
    expect(await edit(openaiChatWire, [tool], clear)).toEqual([{ ...tool, content: "[left out]" }]);
    const failed = { ...tool, content: "[tool error]\nlong" };
    expect(await edit(openaiChatWire, [failed], clear)).toEqual([
      { ...tool, content: "[tool error]\n[left out]" },
    ]);
    const blocks = {
      ...tool,
      content: [{ type: "text", text: "long", cache_control: { type: "ephemeral" } }],
    };
    expect(await edit(openaiChatWire, [blocks], clear)).toEqual([
      { ...tool, content: [{ type: "text", text: "[left out]", cache_control: { type: "ephemeral" } }] },
    ]);
  });

  test("a result of Chat Completions becomes the user's text when its call has left", async () => {
    expect(await edit(openaiChatWire, [tool], asWords, "user")).toEqual([
      { role: "user", content: "[Result]\n\nlong" },
    ]);
  });

  test("an edited message of Chat Completions leaves other calls unchanged, including white space", async () => {
    const own = {
      role: "assistant",
      content: "Reading.",
      tool_calls: [call("a"), call("b")],
      refusal: null,
      audio: null,
    };
    const change: Change = (parts) =>
      parts.map(
        (part, at): Part =>
          at === 2 && part.type === "tool-call" ? { ...part, input: { cleared: "x" } } : part,
      );
    const [element] = await edit(openaiChatWire, [own], change);
    expect(element).toEqual({
      ...own,
      tool_calls: [call("a"), { ...call("b"), function: { name: "read", arguments: '{"cleared":"x"}' } }],
    });
  });

  test("calls of Chat Completions that have lost their results become text, without an empty list of calls", async () => {
    const own = { role: "assistant", content: null, tool_calls: [call("a")], reasoning_content: "Hm." };
    expect(await edit(openaiChatWire, [own], callsAsWords)).toEqual([
      { role: "assistant", content: "[left out]", reasoning_content: "Hm." },
    ]);
    const [silent] = await edit(openaiChatWire, [{ ...own, content: "Reading." }], (parts) =>
      parts.toSpliced(1, 1),
    );
    expect(silent).toEqual({ ...own, content: null });
    expect(await edit(openaiChatWire, [own], withoutReasoning)).toEqual([{ ...own, reasoning_content: "" }]);
    expect(await edit(openaiChatWire, [own], (parts) => parts.slice(0, 1))).toEqual([]);
  });

  test.each([
    { reasoning_content: "Hm." },
    { reasoning: "Hm." },
    { reasoning_details: [{ type: "reasoning.encrypted", data: "b3BhcXVl" }] },
  ])(
    "a logged reply of Chat Completions that the client does not repeat keeps its reasoning %j",
    async (own) => {
      const element = { role: "assistant", content: "Read.", ...own };
      const message = await log(openaiChatWire.decode([element])[0]?.input ?? { role: "user", parts: [] });
      expect(await openaiChatWire.encodeEdited(message, undefined, base64Of)).toEqual([element]);
    },
  );

  test("an edited message of Chat Completions keeps pictures unchanged, and keeps the developer role", async () => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } };
    const own = { role: "user", content: [{ type: "text", text: "long" }, picture] };
    const [element] = await edit(openaiChatWire, [own], (parts) => parts.with(0, stub));
    expect(element).toEqual({ role: "user", content: [{ type: "text", text: "[left out]" }, picture] });
    expect(await edit(openaiChatWire, [{ role: "developer", content: "rules" }], () => [stub])).toEqual([
      { role: "developer", content: "[left out]" },
    ]);
  });
});

describe("an edited message of the Responses API", () => {
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "b3BhcXVl" };
  const said = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text: "Reading.", annotations: [] }],
  };
  const call = (id: string) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name: "read",
    arguments: "{}",
  });
  const output = { type: "function_call_output", call_id: "a", output: "long" };
  const turn = [reasoning, said, call("a"), call("b")];

  test("editing a turn of the Responses API changes only the edited item", async () => {
    const change: Change = (parts) =>
      parts.map(
        (part): Part =>
          part.type === "tool-call" && part.callId === "b" ? { ...part, input: { cleared: "x" } } : part,
      );
    expect(await edit(openaiResponsesWire, turn, change)).toEqual([
      reasoning,
      said,
      call("a"),
      { ...call("b"), arguments: '{"cleared":"x"}' },
    ]);
  });

  test("a cleared result of the Responses API keeps its call id and its plain string, and becomes the user's text without its call", async () => {
    expect(await edit(openaiResponsesWire, [output], clear)).toEqual([{ ...output, output: "[left out]" }]);
    expect(await edit(openaiResponsesWire, [output], asWords, "user")).toEqual([
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "[Result]" },
          { type: "input_text", text: "long" },
        ],
      },
    ]);
  });

  test("items of the Responses API lose their ids when their reasoning has left", async () => {
    const { id: _, ...unnamed } = said;
    const [first, second] = await edit(openaiResponsesWire, turn, withoutReasoning);
    expect(first).toEqual(unnamed);
    expect(second).toEqual({ type: "function_call", call_id: "a", name: "read", arguments: "{}" });
  });

  test("reasoning of the Responses API leaves when the item after it becomes text", async () => {
    const encoded = await edit(openaiResponsesWire, [reasoning, call("a")], callsAsWords);
    expect(encoded).toEqual([
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "[left out]" }] },
    ]);
  });

  test("an edited message of the Responses API does not bring back reasoning that the client has dropped", async () => {
    const own = [said, call("a")];
    const change: Change = (parts) => parts.map((part) => (part.type === "text" ? stub : part));
    const [first, second] = await edit(openaiResponsesWire, own, change, undefined, [
      reasoning,
      said,
      call("x"),
    ]);
    expect(first).toEqual({
      ...said,
      content: [{ type: "output_text", text: "[left out]", annotations: [] }],
    });
    expect(second).toEqual(call("a"));
  });

  test("an edited message of the Responses API keeps plain strings, and the text input of a custom tool", async () => {
    const user = { role: "user", content: "long" };
    expect(await edit(openaiResponsesWire, [user], () => [stub])).toEqual([
      { role: "user", content: "[left out]" },
    ]);
    const patch = { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: "*** Begin" };
    const change: Change = ([part]) =>
      part?.type === "tool-call" ? [{ ...part, input: { cleared: "x" } }] : [];
    expect(await edit(openaiResponsesWire, [patch], change)).toEqual([
      { ...patch, input: '{"cleared":"x"}' },
    ]);
  });

  test("the input of the Responses API may be plain text", () => {
    expect(openaiResponsesWire.decode(parseInputItems("Hello"))).toEqual([
      { input: { role: "user", parts: [{ type: "text", text: "Hello" }] }, from: 0, to: 1 },
    ]);
  });
});
