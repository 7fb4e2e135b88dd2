import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { countClearedContent } from "../../../src/window/compact/cleared-content.ts";
import { type ClientEdits, clientEdits } from "../../../src/window/compact/client-edits.ts";
import { nonePolicy, rooPolicy } from "../../../src/window/policies/known-policies.ts";
import type { Policy } from "../../../src/window/policy.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { Random } from "../../support/random.ts";
import { brokenRule } from "../properties/check-run.ts";
import { randomHistory } from "../properties/random-history.ts";

const HISTORIES = proofRounds(1_000);

const ALL: ClientEdits = {
  reasoning: { keepTurns: 1 },
  results: { trigger: { tokens: 300 }, keep: 1, clearInputs: true },
  compact: { tokens: 900 },
};

/** A task: the user asks, the assistant thinks and reads a file `reads` times, and answers. */
function task(name: string, reads: number): readonly Message[] {
  const steps = Array.from({ length: reads }, (_, step): readonly Message[] => {
    const callId = `${name}-${step}`;
    return [
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: `thought ${callId}`, opaque: "signature" },
          { type: "tool-call", callId, name: "read", input: { path: `src/${callId}.ts` } },
        ],
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId, output: [{ type: "text", text: `${callId} `.repeat(300) }] }],
      },
    ];
  });
  return [
    { role: "user", parts: [{ type: "text", text: `Please do ${name}.` }] },
    ...steps.flat(),
    { role: "assistant", parts: [{ type: "text", text: `Done with ${name}.` }] },
  ];
}

function slotsOf(messages: readonly Message[]): readonly Slot[] {
  return messages.map((message, index) => ({
    seq: index + 1,
    at: index,
    message,
    tokens: estimateMessage(message),
  }));
}

const LIMITS = { tokens: 100_000, window: 120_000, system: 0 };

function fitted(policy: Policy, slots: readonly Slot[], limits = LIMITS): readonly Slot[] {
  const run = policy.start(limits, estimateMessage);
  for (const slot of slots) run.observe(slot);
  return run.fit({ isHot: true });
}

const hasReasoning = ({ message }: Slot) => message.parts.some(({ type }) => type === "reasoning");
const outputOf = (slot: Slot | undefined) => {
  const [part] = slot?.message.parts ?? [];
  const [output] = part?.type === "tool-result" ? part.output : [];
  return output?.type === "text" ? output.text : undefined;
};

describe("the client's edits", () => {
  test("the client's edits leave a window alone if it meets no trigger", () => {
    const slots = slotsOf(task("a", 4));
    const policy = clientEdits({ results: { trigger: { tokens: 50_000 } }, compact: { tokens: 60_000 } });
    expect(fitted(policy, slots)).toEqual(slots);
  });

  test("the client's edits clear all results but the latest, and count what they cleared", () => {
    const slots = slotsOf([...task("a", 5), { role: "user", parts: [{ type: "text", text: "And now?" }] }]);
    const window = fitted(clientEdits({ results: { trigger: { calls: 4 }, keep: 2 } }), slots);
    const changed = window.filter(({ original }) => original).map(({ seq }) => seq);
    expect(changed).toEqual([3, 5, 7]);
    expect(outputOf(window[2])).toMatch(/^\[The result of read \([\d,]+ characters\) was left out/);
    const cleared = countClearedContent(window);
    expect(cleared.toolUses).toBe(3);
    expect(cleared.toolTokens).toBeGreaterThan(1_000);
    expect(cleared).toMatchObject({ reasoningTurns: 0, reasoningTokens: 0, isCompacted: false });
  });

  test("the client's edits clear the inputs of the named tools only", () => {
    const slots = slotsOf([...task("a", 3), ...task("b", 1)]);
    const long = { path: "x".repeat(2_000) };
    const wordy = slots.map((slot): Slot => {
      const parts = slot.message.parts.map((part) =>
        part.type === "tool-call"
          ? { ...part, input: long, name: part.callId === "a-0" ? "write" : "read" }
          : part,
      );
      const message = { ...slot.message, parts };
      return { ...slot, message, tokens: estimateMessage(message) };
    });
    const window = fitted(clientEdits({ results: { keep: 1, clearInputs: ["write"] } }), wordy);
    const inputs = window.flatMap(({ message }) =>
      message.parts.flatMap((part) => (part.type === "tool-call" ? [Object.keys(part.input as object)] : [])),
    );
    expect(inputs).toEqual([["cleared"], ["path"], ["path"], ["path"]]);
  });

  test("the client's edits remove all reasoning of earlier turns and keep the reasoning of the current turn", () => {
    const open = task("c", 2).slice(0, -1);
    const slots = slotsOf([...task("a", 2), ...task("b", 1), ...open]);
    const keeping = (keepTurns: number) => fitted(clientEdits({ reasoning: { keepTurns } }), slots);
    expect(
      keeping(1)
        .filter(hasReasoning)
        .map(({ seq }) => seq),
    ).toEqual([12, 14]);
    expect(
      keeping(2)
        .filter(hasReasoning)
        .map(({ seq }) => seq),
    ).toEqual([8, 12, 14]);
    expect(keeping(3)).toEqual(slots);
    expect(countClearedContent(keeping(1))).toMatchObject({ reasoningTurns: 2, toolUses: 0 });
  });

  test("the client's edits summarize old messages from their trigger on, and update the summary later", () => {
    const policy = clientEdits({ compact: { tokens: 3_000, instructions: "keep a-1" } });
    const run = policy.start(LIMITS, estimateMessage);
    const slots = slotsOf([...task("a", 5), ...task("b", 5), ...task("c", 5)]);
    for (const slot of slots.slice(0, 12)) run.observe(slot);
    const first = run.fit({ isHot: true });
    expect(run.reason).toBe("summarised as the client asked");
    expect(first[0]).toBe(slots[0]);
    expect(first[1]?.isNote).toBe(true);
    expect(first.slice(2)).toEqual(slots.slice(9, 12));
    expect(countClearedContent(first).isCompacted).toBe(true);
    for (const slot of slots.slice(12)) run.observe(slot);
    const second = run.fit({ isHot: true });
    expect(run.reason).toBe("summarised as the client asked");
    const notes = second.filter(({ isNote }) => isNote);
    expect(notes).toHaveLength(1);
    const [part] = notes[0]?.message.parts ?? [];
    expect(part?.type === "text" && part.text).toContain("Please do b.");
  });

  test("the client's edits count triggers as the provider does, if the provider's window is given", () => {
    const slots = slotsOf(task("a", 4));
    const tokens = slots.reduce((sum, slot) => sum + slot.tokens, 0);
    const edits = { results: { trigger: { tokens: tokens * 1.5 }, keep: 1 } };
    const limits = { tokens: 50_000, window: 50_000, system: 0 };
    expect(countClearedContent(fitted(clientEdits(edits), slots, limits)).toolUses).toBe(0);
    expect(
      countClearedContent(fitted(clientEdits(edits, { windowTokens: 100_000 }), slots, limits)).toolUses,
    ).toBe(3);
  });

  test("the client's edits survive rebuilds of the policy after them, and restarts", () => {
    const policy = clientEdits({ results: { trigger: { calls: 2 }, keep: 1 } });
    const slots = slotsOf(Array.from({ length: 20 }, (_, index) => task(`t${index}`, 3)).flat());
    const limits = { tokens: 4_000, window: 5_000, system: 0 };
    let run = policy.start(limits, estimateMessage);
    const cleared = new Set<number>();
    let sent: readonly Slot[] = [];
    for (const [index, slot] of slots.entries()) {
      run.observe(slot);
      if (slot.message.role !== "assistant") continue;
      const window = run.fit({ isHot: true });
      expect(window.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(4_000);
      for (const { seq, original, message, isNote } of window) {
        if (isNote) continue;
        if (cleared.has(seq)) expect(original, `${seq} at ${index}`).toBeDefined();
        if (original && message.role === "tool") cleared.add(seq);
      }
      sent = [...window];
      if (index % 17 === 0) run = policy.start(limits, estimateMessage, { window: sent, past: [] });
    }
    expect(cleared.size).toBeGreaterThan(20);
  });
});

describe.each([
  {
    name: "before none",
    policy: clientEdits(ALL, { base: nonePolicy() }),
    exempt: { limit: true } as const,
  },
  {
    name: "before roo",
    policy: clientEdits({ ...ALL, compact: { tokens: 9_000 } }, { base: rooPolicy() }),
    exempt: {},
  },
  { name: "before longhaul", policy: clientEdits(ALL), exempt: { rebuilds: true } as const },
])("$name", ({ policy, exempt }) => {
  sizedTest(`a window with client edits keeps every rule in ${HISTORIES} random histories`, () => {
    const found: string[] = [];
    for (let seed = 1; seed <= HISTORIES && found.length < 5; seed++) {
      const random = new Random(seed);
      const messages = randomHistory(random);
      const rule = messages.length === 0 ? undefined : brokenRule(policy, messages, random, exempt);
      if (rule !== undefined) found.push(`seed ${seed}: ${rule}`);
    }
    expect(found).toEqual([]);
  });
});
