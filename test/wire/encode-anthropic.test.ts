import { describe, expect, test } from "vitest";
import type { Message, Part } from "../../src/kernel/index.ts";
import { anthropicWire } from "../../src/wire/anthropic/anthropic-wire.ts";
import type { WireObject } from "../../src/wire/wire.ts";
import { PNG } from "./elements.ts";
import { loggedMessages } from "./logged.ts";

const { log, base64Of } = loggedMessages();
const MARK = { cache_control: { type: "ephemeral" } };
const thinking = { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" };
const text = (words: string) => ({ type: "text", text: words });
const call = (id: string) => ({ type: "tool_use", id, name: "read", input: { path: "a.ts" } });
const stub: Part = { type: "text", text: "[left out]" };

/** The logged message, from another element than the one it is written into if the client changed it. */
async function logged(element: WireObject): Promise<Message> {
  return log(anthropicWire.decode([element])[0]?.input ?? { role: "user", parts: [] });
}

async function edit(
  own: WireObject,
  change: (parts: readonly Part[]) => readonly Part[],
  before = own,
  role?: Message["role"],
) {
  const original = await logged(before);
  const message = { ...original, parts: change(original.parts), ...(role && { role }) };
  return anthropicWire.encodeEdited(message, { elements: [own], original }, base64Of);
}

const clear = (parts: readonly Part[]) =>
  parts.map(
    (part): Part =>
      part.type === "tool-result" ? { ...part, output: [{ type: "text", text: "[left out]" }] } : part,
  );

describe("an edited message of Anthropic's API", () => {
  test("an edited message of Anthropic's API keeps cache marks, unknown fields, ids and the plain string of a cleared result", async () => {
    const seen = {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "long" }],
    };
    const own = {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "rewritten_1", content: "long", is_error: false, ...MARK },
      ],
      note: 7,
    };
    expect(await edit(own, clear, seen)).toEqual([
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "rewritten_1",
            content: "[left out]",
            is_error: false,
            ...MARK,
          },
        ],
        note: 7,
      },
    ]);
  });

  test("an edited message of Anthropic's API changes only the block of the edited result, and keeps blocks as blocks", async () => {
    const picture = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PNG },
      ...MARK,
    };
    const own = {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [text("one"), picture, text("two")] },
      ],
    };
    const change = ([part]: readonly Part[]): readonly Part[] =>
      part?.type === "tool-result"
        ? [{ ...part, output: part.output.with(2, { type: "text", text: "2" }) }]
        : [];
    const [element] = await edit(own, change);
    expect(element).toEqual({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [text("one"), picture, text("2")] }],
    });
  });

  test("an edited message of Anthropic's API does not bring back reasoning that the client has dropped", async () => {
    const said = {
      role: "assistant",
      content: [thinking, text("Reading."), call("toolu_1"), call("toolu_2")],
    };
    const own = { role: "assistant", content: [text("Reading."), { ...call("a"), ...MARK }, call("b")] };
    const change = (parts: readonly Part[]) =>
      parts.map(
        (part): Part =>
          part.type === "tool-call" && part.callId === "toolu_2"
            ? { ...part, input: { cleared: "x" } }
            : part,
      );
    expect(await edit(own, change, said)).toEqual([
      {
        role: "assistant",
        content: [text("Reading."), { ...call("a"), ...MARK }, { ...call("b"), input: { cleared: "x" } }],
      },
    ]);
  });

  test("an edited message of Anthropic's API keeps reasoning unchanged or drops it completely", async () => {
    const own = { role: "assistant", content: [thinking, text("Reading."), call("toolu_1")] };
    const [kept] = await edit(own, (parts) => parts.with(1, stub));
    expect(kept?.content).toEqual([thinking, text("[left out]"), call("toolu_1")]);
    const [lost] = await edit(own, (parts) => parts.slice(1));
    expect(lost?.content).toEqual([text("Reading."), call("toolu_1")]);
    const [altered] = await edit(own, (parts) => parts.with(0, { type: "reasoning", text: "Hmm." }));
    expect(altered?.content).toEqual([text("Reading."), call("toolu_1")]);
  });

  test("a result without its call becomes text after the remaining results in Anthropic's API", async () => {
    const own = {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "first" },
        { type: "tool_result", tool_use_id: "toolu_2", content: "second" },
      ],
    };
    const asWords = ([part, ...rest]: readonly Part[]): readonly Part[] =>
      part?.type === "tool-result" ? [{ type: "text", text: "[Result]" }, ...part.output, ...rest] : rest;
    const [element] = await edit(own, asWords);
    expect(element?.content).toEqual([own.content[1], text("[Result]"), text("first")]);
    const all = (parts: readonly Part[]) => parts.flatMap((part) => asWords([part]));
    const [words] = await edit(own, all, own, "user");
    expect(words).toMatchObject({ role: "user" });
    expect(words?.content).toEqual([text("[Result]"), text("first"), text("[Result]"), text("second")]);
  });

  test("an edited message of Anthropic's API keeps plain strings and the system role, and is dropped if empty", async () => {
    expect(await edit({ role: "user", content: "long" }, () => [stub])).toEqual([
      { role: "user", content: "[left out]" },
    ]);
    const system = { role: "system", content: "rules", output_config: { effort: "medium" } };
    expect(await edit(system, () => [stub])).toEqual([{ ...system, content: "[left out]" }]);
    expect(await edit({ role: "user", content: [text("long")] }, () => [])).toEqual([]);
  });

  test("an edited message of Anthropic's API keeps a block that is not in the log, and the cache mark of a replaced picture", async () => {
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    const seen = { role: "user", content: [picture, text("Look.")] };
    const own = {
      role: "user",
      content: [{ ...picture, ...MARK }, { type: "search_result", title: "new" }, text("Look.")],
    };
    const [element] = await edit(own, (parts) => parts.with(0, stub), seen);
    expect(element?.content).toEqual([
      { ...text("[left out]"), ...MARK },
      { type: "search_result", title: "new" },
      text("Look."),
    ]);
  });

  test("an edited message of Anthropic's API changes texts that the client has joined as one text", async () => {
    const said = { role: "assistant", content: [text("One."), call("toolu_1"), text("Two.")] };
    const own = { role: "assistant", content: [text("One.\nTwo."), call("toolu_1")] };
    const [element] = await edit(own, (parts) => parts.with(2, stub), said);
    expect(element?.content).toEqual([text("One.\n[left out]"), call("toolu_1")]);
    const [same] = await edit(own, (parts) => parts.filter(({ type }) => type === "text"), said);
    expect(same?.content).toEqual([text("One.\nTwo.")]);
  });

  test("a note in Anthropic's API shows media from the log, or names media that are missing", async () => {
    const { parts } = await log({ role: "user", parts: [{ type: "data", data: PNG, name: "a.png" }] });
    const note: Message = { role: "user", parts };
    const [shown] = await anthropicWire.encodeEdited(note, undefined, base64Of);
    expect(shown?.content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
    ]);
    const [told] = await anthropicWire.encodeEdited(note, undefined, async () => undefined);
    expect(told?.content).toContain("a.png");
  });
});
