import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import {
  type AnthropicClearOptions,
  anthropicClearPolicy,
  type CondenseOptions,
  clinePolicy,
  computeAllowedTokens,
  computeMaxAllowedTokens,
  nonePolicy,
  openclawPolicy,
  rooPolicy,
} from "../../../src/window/policies/known-policies.ts";
import type { Policy, PolicyLimits } from "../../../src/window/policy.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { charactersAsTokens, fitAll, reads, says, slotsOf } from "./histories.ts";

const limitsOf = (window: number, tokens = window): PolicyLimits => ({ window, tokens, system: 0 });
const seqsOf = (window: readonly Slot[]) => window.map(({ seq }) => seq);
const windowOf = (policy: Policy, messages: readonly Message[], limits: PolicyLimits, isHot = true) =>
  fitAll(policy.start(limits, charactersAsTokens), slotsOf(messages), isHot);
const talk = (count: number, characters: number) =>
  Array.from({ length: count }, (_, index) => says(index % 2 === 0 ? "user" : "assistant", characters));
const manyReads = (count: number, characters: number) =>
  Array.from({ length: count }, (_, index) => reads(`c${index}`, `${index}.ts`, characters)).flat();
const outputAt = (window: readonly Slot[], seq: number) => {
  const part = window.find((slot) => slot.seq === seq)?.message.parts[0];
  const first = part?.type === "tool-result" ? part.output[0] : undefined;
  return first?.type === "text" ? first.text : undefined;
};

test('the policy "none" sends everything, even if it does not fit', () => {
  expect(seqsOf(windowOf(nonePolicy(), talk(4, 100), limitsOf(10)))).toEqual([1, 2, 3, 4]);
});

describe("cline", () => {
  test.each([
    [64_000, 37_000],
    [128_000, 98_000],
    [200_000, 160_000],
    [100_000, 80_000],
    [1_000_000, 960_000],
  ])("cline in a window of %i tokens uses at most %i", (window, allowed) => {
    expect(computeMaxAllowedTokens(window)).toBe(allowed);
  });

  test("cline changes nothing below what is allowed", () => {
    expect(seqsOf(windowOf(clinePolicy(), talk(10, 79), limitsOf(1_000)))).toHaveLength(10);
  });

  test("cline drops an even half of the messages after the first pair", () => {
    // Ten messages of 80 reach the limit of 800; of the eight after the first pair, floor(8 / 4) · 2 = 4 leave.
    expect(seqsOf(windowOf(clinePolicy(), talk(10, 80), limitsOf(1_000)))).toEqual([1, 2, 7, 8, 9, 10]);
  });

  test("cline drops three quarters of the messages if half of the tokens are still too many", () => {
    // 1,800 / 2 > 800: of the sixteen after the first pair, floor(16 · 3 / 8) · 2 = 12 leave.
    expect(seqsOf(windowOf(clinePolicy(), talk(18, 100), limitsOf(1_000)))).toEqual([1, 2, 15, 16, 17, 18]);
  });

  test("cline drops no messages if removing repeated reads frees 30 %", () => {
    const messages = [
      says("user", 10),
      says("assistant", 10),
      ...reads("a", "a.ts", 400),
      ...reads("b", "a.ts", 400),
      says("assistant", 10),
    ];
    const window = windowOf(clinePolicy(), messages, limitsOf(1_000));
    expect(seqsOf(window)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(outputAt(window, 4)).toContain("An earlier read of a.ts");
    expect(outputAt(window, 6)).toBe("y".repeat(400));
  });

  test("cline also drops half of the messages if removing repeated reads frees less than 30 %", () => {
    const messages = [
      ...[says("user", 10), says("assistant", 10), ...reads("a", "a.ts", 200)],
      ...[...reads("b", "a.ts", 200), says("user", 500), says("assistant", 10)],
    ];
    // Of the six after the first pair, floor(6 / 4) · 2 = 2 leave: the first read with its result.
    const window = windowOf(clinePolicy(), messages, limitsOf(1_000));
    expect(seqsOf(window)).toEqual([1, 2, 5, 6, 7, 8]);
  });
});

describe("roo", () => {
  test("roo allows nine tenths of the window, less the reserve for the reply", () => {
    expect(computeAllowedTokens(limitsOf(200_000, 192_000))).toBe(172_000);
  });

  test("roo drops an even half of the messages after the first", () => {
    // 950 > 900: of the nine after the first message, floor(9 / 2) = 4 leave; of ten, 5 rounded down to even: 4.
    expect(seqsOf(windowOf(rooPolicy(), talk(10, 95), limitsOf(1_000)))).toEqual([1, 6, 7, 8, 9, 10]);
    expect(seqsOf(windowOf(rooPolicy(), talk(11, 90), limitsOf(1_000)))).toEqual([1, 6, 7, 8, 9, 10, 11]);
  });

  test("roo changes nothing while the messages are exactly at the limit", () => {
    expect(seqsOf(windowOf(rooPolicy(), talk(10, 90), limitsOf(1_000)))).toHaveLength(10);
  });

  test("roo never separates a call from its results", () => {
    // floor(5 / 2) rounded down to even is 2, and the call with two results is 3: at least one group
    // leaves, so all three do.
    const [call, result] = reads("a", "a.ts", 300);
    const messages = [
      says("user", 100),
      call,
      result,
      says("tool", 300),
      says("user", 300),
      says("assistant", 10),
    ];
    const split = messages.with(1, { ...call, parts: [...call.parts, ...reads("b", "b.ts", 1)[0].parts] });
    const results = split.with(3, reads("b", "b.ts", 300)[1]);
    expect(seqsOf(windowOf(rooPolicy(), results, limitsOf(1_000)))).toEqual([1, 5, 6]);
  });

  test("roo keeps its edits in later windows, and leaves all other slots unchanged", () => {
    const run = rooPolicy().start(limitsOf(1_000), charactersAsTokens);
    const slots = slotsOf([...talk(10, 95), says("user", 5)]);
    const first = fitAll(run, slots.slice(0, 10));
    const second = fitAll(run, slots.slice(10));
    expect(second).toEqual([...first, slots[10]]);
    expect(second.every((slot) => slots.includes(slot))).toBe(true);
  });
});

describe("roo with condensing", () => {
  const condensing = (options: CondenseOptions = {}) => rooPolicy({ condense: options });

  test("roo with condensing keeps the first message and the last three from half of the limit on", () => {
    // The limit is 900 of 1,000, half of that is 450: nine messages of 50 reach it, eight do not.
    expect(seqsOf(windowOf(condensing(), talk(8, 50), limitsOf(1_000)))).toHaveLength(8);
    expect(seqsOf(windowOf(condensing(), talk(9, 50), limitsOf(1_000)))).toEqual([1, 7, 8, 9]);
  });

  test("roo with condensing accepts a threshold of 5 to 100 percent", () => {
    expect(seqsOf(windowOf(condensing({ threshold: 100 }), talk(17, 50), limitsOf(1_000)))).toHaveLength(17);
    expect(seqsOf(windowOf(condensing({ threshold: 100 }), talk(18, 50), limitsOf(1_000)))).toHaveLength(4);
    for (const threshold of [4, 101, Number.NaN])
      expect(() => condensing({ threshold })).toThrow("condense.threshold");
  });

  test("roo with condensing condenses more than 200 messages, however small they are", () => {
    expect(seqsOf(windowOf(condensing(), talk(200, 1), limitsOf(10_000)))).toHaveLength(200);
    expect(seqsOf(windowOf(condensing(), talk(201, 1), limitsOf(10_000)))).toEqual([1, 199, 200, 201]);
  });

  test("roo with condensing keeps a call whose result is among the last three messages", () => {
    const messages = [...talk(7, 50), ...reads("a", "a.ts", 50), says("assistant", 50), says("user", 50)];
    expect(seqsOf(windowOf(condensing(), messages, limitsOf(1_000)))).toEqual([1, 8, 9, 10, 11]);
  });
});

test("a policy gives a reason when it changes messages that were sent, and no reason otherwise", () => {
  const run = clinePolicy().start(limitsOf(1_000), charactersAsTokens);
  const slots = slotsOf(talk(12, 80));
  fitAll(run, slots.slice(0, 9));
  expect(run.reason).toBeUndefined();
  fitAll(run, slots.slice(9, 10));
  expect(run.reason).toBe("truncated to a half");
  fitAll(run, slots.slice(10, 11));
  expect(run.reason).toBeUndefined();
});

test("a policy keeps at most the number of messages that the limit allows", () => {
  const limits = { ...limitsOf(10_000), messages: 6 };
  expect(seqsOf(windowOf(clinePolicy(), talk(12, 1), limits))).toEqual([1, 2, 9, 10, 11, 12]);
});

test("a result that arrives after its call has left is shown as plain words", () => {
  const [call, result] = reads("a", "a.ts", 10);
  const run = rooPolicy().start(limitsOf(1_000), charactersAsTokens);
  const slots = slotsOf([says("user", 10), call, ...talk(8, 120), result]);
  fitAll(run, slots.slice(0, -1));
  const late = fitAll(run, slots.slice(-1)).at(-1);
  expect(late?.message.role).toBe("user");
  expect(late?.message.parts.at(-1)).toEqual({ type: "text", text: "y".repeat(10) });
});

describe("openclaw", () => {
  test.each([
    [15_000, 20],
    [16_000, 50],
    [64_000, 50],
    [100_000, 100],
    [128_000, 100],
    [200_000, 200],
  ])("openclaw in a window of %i tokens keeps at most %i messages", (window, limit) => {
    const slots = windowOf(openclawPolicy(), talk(limit + 2, 1), limitsOf(window));
    expect(slots).toHaveLength(limit);
    expect(windowOf(openclawPolicy(), talk(limit, 1), limitsOf(window))).toHaveLength(limit);
  });

  test("openclaw accepts another threshold and another limit of messages", () => {
    const narrow = openclawPolicy({ threshold: 50, messages: 100 });
    expect(seqsOf(windowOf(narrow, talk(10, 50), limitsOf(1_000)))).toHaveLength(10);
    expect(seqsOf(windowOf(narrow, talk(10, 51), limitsOf(1_000)))).toEqual([1, 6, 7, 8, 9, 10]);
    expect(() => openclawPolicy({ threshold: 0 })).toThrow("threshold");
  });

  test("openclaw drops the oldest messages beyond the limit of its window, but keeps the first exchange", () => {
    // Below 16k: 20 messages. Of 24, the first exchange stays for the sake of the first message, and two others leave.
    expect(seqsOf(windowOf(openclawPolicy(), talk(24, 1), limitsOf(1_000)))).toEqual([
      ...[1, 2],
      ...Array.from({ length: 18 }, (_, index) => index + 7),
    ]);
  });

  test("openclaw drops half of the messages above 80 % of the window", () => {
    expect(seqsOf(windowOf(openclawPolicy(), talk(10, 80), limitsOf(1_000)))).toHaveLength(10);
    expect(seqsOf(windowOf(openclawPolicy(), talk(10, 81), limitsOf(1_000)))).toEqual([1, 6, 7, 8, 9, 10]);
  });

  test("openclaw prunes old results only when the cache has run out", () => {
    const messages = [says("user", 10), ...manyReads(5, 6_000)];
    const hot = windowOf(openclawPolicy(), messages, limitsOf(70_000));
    expect(outputAt(hot, 3)).toBe("y".repeat(6_000));
    const cold = windowOf(openclawPolicy(), messages, limitsOf(70_000), false);
    const half = "y".repeat(1_500);
    const stub = "[The middle of a result (3,000 characters) was left out; to see it: expand #3]";
    expect(outputAt(cold, 3)).toBe(`${half}\n${stub}\n${half}`);
    expect(outputAt(cold, 5)).toContain("The middle of a result");
    expect(outputAt(cold, 7)).toBe("y".repeat(6_000));
  });

  test("openclaw clears the oldest results until half of the window is enough", () => {
    const messages = [says("user", 10), ...manyReads(20, 3_500)];
    // 70,010 of 100,000, and 59,500 characters may be cleared; six stubs of at most 84 instead of 3,500 free 20,496.
    const window = windowOf(openclawPolicy(), messages, limitsOf(100_000), false);
    expect(outputAt(window, 13)).toBe(
      "[The result of read_file (3,500 characters) was left out; to see it: expand #13]",
    );
    expect(outputAt(window, 15)).toBe("y".repeat(3_500));
  });
});

describe("anthropic-clear", () => {
  test("anthropic-clear clears all results but the last three from half of the window on", () => {
    const messages = [says("user", 10), ...manyReads(5, 100)];
    expect(outputAt(windowOf(anthropicClearPolicy(), messages, limitsOf(1_020)), 3)).toBe("y".repeat(100));
    const window = windowOf(anthropicClearPolicy(), messages, limitsOf(1_019));
    const cleared = (seq: number) =>
      `[The result of read_file (100 characters) was left out; to see it: expand #${seq}]`;
    expect([3, 5, 7].map((seq) => outputAt(window, seq))).toEqual([cleared(3), cleared(5), "y".repeat(100)]);
    expect(seqsOf(window)).toHaveLength(11);
  });

  test("anthropic-clear respects its trigger, the calls to keep, excluded tools and the least amount to clear", () => {
    const messages = [says("user", 10), ...manyReads(5, 100)];
    const stubs = (options: AnthropicClearOptions) =>
      windowOf(anthropicClearPolicy(options), messages, limitsOf(100_000))
        .filter(({ original }) => original !== undefined)
        .map(({ seq }) => seq);
    expect(stubs({})).toEqual([]);
    expect(stubs({ trigger: { tokens: 510 } })).toEqual([]);
    expect(stubs({ trigger: { tokens: 509 } })).toEqual([3, 5]);
    expect(stubs({ trigger: { calls: 5 } })).toEqual([]);
    expect(stubs({ trigger: { calls: 4 }, keep: 1 })).toEqual([3, 5, 7, 9]);
    expect(stubs({ trigger: { calls: 4 }, excludeTools: ["read_file"] })).toEqual([]);
    // Each of the two stubs takes 77 of 100.
    expect(stubs({ trigger: { calls: 4 }, clearAtLeast: 46 })).toEqual([3, 5]);
    expect(stubs({ trigger: { calls: 4 }, clearAtLeast: 47 })).toEqual([]);
  });

  test("anthropic-clear drops half of the messages only if clearing results is not enough", () => {
    // No results to clear: of the eight after the first pair, four leave.
    expect(seqsOf(windowOf(anthropicClearPolicy(), talk(10, 100), limitsOf(1_000)))).toHaveLength(10);
    expect(seqsOf(windowOf(anthropicClearPolicy(), talk(10, 101), limitsOf(1_000)))).toEqual([
      1, 2, 7, 8, 9, 10,
    ]);
  });
});
