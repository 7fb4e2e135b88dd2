import { describe, expect, test } from "vitest";
import type { Message } from "../../src/model/message.ts";
import type { Part } from "../../src/model/part.ts";
import {
  dropUnboundThinking,
  findLostThinking,
  sumThinkingTokens,
} from "../../src/window/living-thinking.ts";
import type { Slot } from "../../src/window/slot.ts";

const tokensOf = ({ parts }: Message) =>
  parts.reduce((sum, part) => sum + ("text" in part ? String(part.text).length : 1), 0);

function createSlot(seq: number, role: Message["role"], ...parts: readonly Part[]): Slot {
  const message: Message = { role, parts };
  return { seq, at: 0, message, tokens: tokensOf(message) };
}

const ask = (seq: number) => createSlot(seq, "user", { type: "text", text: `question ${seq}` });
const think = (seq: number) =>
  createSlot(
    seq,
    "assistant",
    { type: "reasoning", text: `thought ${seq}`, opaque: `signature${seq}` },
    { type: "text", text: `answer ${seq}` },
  );

const sent = [ask(1), think(2), ask(3), think(4), ask(5), think(6), ask(7)];

function listThinking(slots: readonly Slot[]): readonly number[] {
  return slots.flatMap(({ seq, message }) =>
    message.parts.some(({ type }) => type === "reasoning") ? [seq] : [],
  );
}

describe("thinking after an edit", () => {
  test("thinking stays before the first change and leaves behind it", () => {
    const after = dropUnboundThinking(sent, sent.toSpliced(2, 1), tokensOf);
    expect(listThinking(after)).toEqual([2]);
    expect(after.map(({ seq }) => seq)).toEqual([1, 2, 4, 5, 6, 7]);
    expect(findLostThinking(sent, after).map(({ seq }) => seq)).toEqual([4, 6]);
  });

  test("messages at the end of the window take no thinking away", () => {
    expect(dropUnboundThinking(sent, [...sent, ask(8)], tokensOf)).toEqual([...sent, ask(8)]);
  });

  test("a window that loses no thinking stays the same object", () => {
    const after = [...sent, ask(8)];
    expect(dropUnboundThinking(sent, after, tokensOf)).toBe(after);
  });

  test("thinking that an earlier edit took away stays away when its message is planned again", () => {
    const edited = dropUnboundThinking(sent, sent.toSpliced(0, 1), tokensOf);
    const again = edited.map((slot) => {
      const { original, ...rest } = slot;
      return original ? { ...rest, message: original, tokens: tokensOf(original) } : slot;
    });
    expect(listThinking(dropUnboundThinking(edited, again, tokensOf))).toEqual([]);
  });

  test("a reply of thinking only leaves as a whole, because providers refuse an empty message", () => {
    const only = createSlot(4, "assistant", { type: "reasoning", text: "hm", opaque: "s" });
    const window = sent.with(3, only);
    expect(dropUnboundThinking(window, window.toSpliced(0, 1), tokensOf).map(({ seq }) => seq)).toEqual([
      2, 3, 5, 6, 7,
    ]);
  });

  test("the tokens of thinking are those that its message is smaller without it", () => {
    expect(sumThinkingTokens([think(2), ask(3)], tokensOf)).toBe("thought 2".length);
  });
});
