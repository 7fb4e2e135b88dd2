import { expect, test } from "vitest";
import { clipSlots } from "../../src/window/clip-slots.ts";
import { sumSlotTokens } from "../../src/window/slot.ts";
import { estimateMessage } from "../../src/window/tokens/estimate.ts";
import { proofTest } from "../support/proof.ts";
import { charactersAsTokens, says, slotsOf } from "./policies/histories.ts";

test("only the largest part is clipped", () => {
  const slots = slotsOf([says("assistant", 500), says("user", 2_000)]);
  const [first, second] = clipSlots(slots, 1_500, charactersAsTokens);
  expect(first).toBe(slots[0]);
  expect(second?.tokens).toBeLessThanOrEqual(1_000);
  expect(second?.original).toBe(slots[1]?.message);
});

test("several large parts are clipped to the same size", () => {
  const slots = slotsOf([says("user", 900), says("assistant", 5_000), says("user", 3_000)]);
  const [first, second, third] = clipSlots(slots, 4_000, charactersAsTokens);
  expect(first).toBe(slots[0]);
  expect(Math.abs((second?.tokens ?? 0) - (third?.tokens ?? 0))).toBeLessThan(50);
});

test("protected parts stay, even if clipping the rest cannot make room for them", () => {
  const slots = slotsOf([says("user", 900), says("assistant", 2_000)]);
  const window = clipSlots(slots, 1_000, charactersAsTokens, ({ message }) => message.role === "assistant");
  expect(window[1]).toBe(slots[1]);
  expect(window[0]?.tokens).toBeLessThan(100);
});

proofTest("thousands of parts are clipped in one go with few counts", () => {
  const part = (index: number) => ({ type: "text" as const, text: `part ${index} `.repeat(40) });
  const parts = Array.from({ length: 20_000 }, (_, index) => part(index));
  const slots = slotsOf([{ role: "user", parts }], estimateMessage);
  const counted = { calls: 0 };
  const tokensOf = (message: Parameters<typeof estimateMessage>[0]) => {
    counted.calls += message.parts.length;
    return estimateMessage(message);
  };
  expect(sumSlotTokens(clipSlots(slots, 500_000, tokensOf))).toBeLessThanOrEqual(500_000);
  expect(counted.calls).toBeLessThan(20_000 * 12);
});

test("a text outside the log is clipped by its own characters, not by those of its preview", () => {
  const blob = {
    type: "blob",
    of: "text",
    digest: "0".repeat(64),
    sizeBytes: 600_000,
    mime: "text/plain",
    preview: "words ".repeat(100),
  } as const;
  const slots = slotsOf([{ role: "user", parts: [blob] }], estimateMessage);
  const [clipped] = clipSlots(slots, 60_000, estimateMessage);
  expect(clipped?.message.parts[0]).toMatchObject({ type: "blob", digest: blob.digest });
  const [part] = clipped?.message.parts ?? [];
  expect(part?.type === "blob" ? (part.shownCharacters ?? 0) : 0).toBeGreaterThan(150_000);
});

test("slots that fit are returned unchanged", () => {
  const slots = slotsOf([says("user", 500)]);
  expect(clipSlots(slots, 500, charactersAsTokens)).toBe(slots);
});

test("clipping a call removes its input, keeps its id and name, and never touches reasoning", () => {
  const reasoning = { type: "reasoning", text: "z".repeat(400) } as const;
  const call = { type: "tool-call", callId: "1", name: "write", input: { text: "x".repeat(9_000) } } as const;
  const slots = slotsOf([{ role: "assistant", parts: [reasoning, call] }], estimateMessage);
  const window = clipSlots(slots, 600, estimateMessage);
  expect(sumSlotTokens(window)).toBeLessThanOrEqual(600);
  expect(window[0]?.message.parts[0]).toBe(reasoning);
  expect(window[0]?.message.parts[1]).toMatchObject({ type: "tool-call", callId: "1", name: "write" });
});
