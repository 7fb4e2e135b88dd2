import { expect, test } from "vitest";
import { fitConversation } from "../../src/kernel/faces/window.ts";
import type { Message } from "../../src/kernel/index.ts";

const talk: readonly Message[] = Array.from({ length: 400 }, (_, at): Message => {
  const text = `Message ${at}. ${"some words about nothing in particular ".repeat(12)}`;
  return { role: at % 2 === 0 ? "user" : "assistant", parts: [{ type: "text", text }] };
});

test.each(["gpt-5", "claude-sonnet-4-5", "claude-opus-4-7"])(
  "a conversation without a store fits the window of %s as its provider counts",
  (model) => {
    const { tokens, slots } = fitConversation(talk, {
      model,
      models: { "*": { window: 32_000, maxOutput: 4_000 } },
    });
    expect(tokens).toBeLessThanOrEqual(28_000);
    expect(slots.length).toBeGreaterThan(3);
  },
);

test("a model whose tokenizer counts more for the same words gets fewer words", () => {
  const options = { models: { "*": { window: 32_000, maxOutput: 4_000 } } };
  const size = (model: string) =>
    fitConversation(talk, { ...options, model }).slots.reduce((sum, slot) => sum + slot.tokens, 0);
  expect(size("claude-opus-4-7")).toBeLessThan(size("gpt-5"));
});
