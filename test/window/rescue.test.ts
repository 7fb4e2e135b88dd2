import { expect, test } from "vitest";
import { rescue } from "../../src/window/rescue.ts";
import { sizeOf } from "../../src/window/size.ts";
import { estimateMessage } from "../../src/window/tokens/estimate.ts";
import { charactersAsTokens, says, slotsOf } from "./policies/histories.ts";

test("the largest part is clipped, and nothing else is touched", () => {
  const slots = slotsOf([says("assistant", 500), says("user", 2_000)]);
  const [first, second] = rescue(slots, 1_500, charactersAsTokens);
  expect(first).toBe(slots[0]);
  expect(second?.tokens).toBeLessThanOrEqual(1_000);
  expect(second?.original).toBe(slots[1]?.message);
});

test("the latest message of the assistant is clipped only if all else is not enough", () => {
  const slots = slotsOf([says("user", 900), says("assistant", 2_000)]);
  expect(rescue(slots, 2_400, charactersAsTokens)[1]).toBe(slots[1]);
  const [, second] = rescue(slots, 1_000, charactersAsTokens);
  expect(second?.tokens).toBeLessThan(1_000);
});

test("what fits stays the very same", () => {
  const slots = slotsOf([says("user", 500)]);
  expect(rescue(slots, 500, charactersAsTokens)).toBe(slots);
});

test("the input of a call leaves, its id and name stay, and reasoning is never touched", () => {
  const reasoning = { type: "reasoning", text: "z".repeat(400) } as const;
  const call = { type: "tool-call", callId: "1", name: "write", input: { text: "x".repeat(9_000) } } as const;
  const slots = slotsOf([{ role: "assistant", parts: [reasoning, call] }], estimateMessage);
  const window = rescue(slots, 600, estimateMessage);
  expect(sizeOf(window)).toBeLessThanOrEqual(600);
  expect(window[0]?.message.parts[0]).toBe(reasoning);
  expect(window[0]?.message.parts[1]).toMatchObject({ type: "tool-call", callId: "1", name: "write" });
});
