import { expect, test } from "vitest";
import { modelFacts, NO_TOTALS, PROTOCOL } from "../../../src/kernel/faces/window.ts";
import { buildModelProtocol, chooseReplayProtocol } from "../../../src/kernel/usage/replay-protocol.ts";

const claude = modelFacts("claude-sonnet-4-5");
const gpt = modelFacts("gpt-5");

test("any session can be replayed at the prices of a model, unless they are assumed", () => {
  expect(buildModelProtocol(modelFacts("claude-opus-5-5"))).toEqual({ ...PROTOCOL, readPrice: 0.05 });
  expect(buildModelProtocol(modelFacts("gpt-6.1-sol"))).toMatchObject({
    readPrice: 0.05,
    cacheMs: 1_800_000,
  });
  expect(buildModelProtocol(modelFacts("claude-fable-9"))).toBeUndefined();
});

test("a session without reports is replayed at standard prices", () => {
  expect(chooseReplayProtocol(NO_TOTALS, claude)).toBe(PROTOCOL);
});

test("a replay assumes no cache if the provider reported none", () => {
  const totals = { ...NO_TOTALS, requests: 3, inputTokens: 90_000 };
  expect(chooseReplayProtocol(totals, claude)).toMatchObject({ readPrice: 1, writePrice: 1 });
});

test("a replay gives a reported cache the prices and the lifetime of its model", () => {
  const reads = { ...NO_TOTALS, requests: 3, inputTokens: 9_000, cacheReadTokens: 90_000 };
  const { prices } = claude;
  expect(chooseReplayProtocol({ ...reads, cacheWriteTokens: 5 }, claude)).toMatchObject({
    readPrice: prices.cacheRead / prices.input,
    writePrice: prices.cacheWrite / prices.input,
    outputPrice: prices.output / prices.input,
    cacheMs: PROTOCOL.cacheMs,
  });
  const hours = { ...reads, cacheWriteTokens: 5, cacheWriteHourTokens: 5 };
  expect(chooseReplayProtocol(hours, claude)).toMatchObject({
    writePrice: prices.cacheWriteHour / prices.input,
    cacheMs: 3_600_000,
  });
  // A provider that caches by itself charges nothing for writing.
  expect(chooseReplayProtocol(reads, gpt).writePrice).toBe(1);
  expect(chooseReplayProtocol(reads, undefined)).toEqual(PROTOCOL);
});
