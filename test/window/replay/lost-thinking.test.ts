import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/kernel/index.ts";
import type { ThinkingRule } from "../../../src/window/models/thinking-rule.ts";
import { POLICIES } from "../../../src/window/policies/known-policies.ts";
import type { Policy } from "../../../src/window/policy.ts";
import type { RecordedMessage } from "../../../src/window/replay/recorded-message.ts";
import { replay } from "../../../src/window/replay/replay-conversation.ts";

/** One turn of many calls, each with thinking and an output of 4,000 characters. */
const CONVERSATION: readonly RecordedMessage[] = Array.from({ length: 61 }, (_, index) => ({
  seq: index + 1,
  at: 1_000 * index,
  message: buildMessage(index),
}));

function buildMessage(index: number): Message {
  if (index === 0) return { role: "user", parts: [{ type: "text", text: "Look at all files." }] };
  const callId = `c${Math.ceil(index / 2)}`;
  if (index % 2 === 1)
    return {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "t".repeat(400) },
        { type: "tool-call", callId, name: "read", input: { path: `src/${callId}.ts` } },
      ],
    };
  const output = [{ type: "text" as const, text: `${callId} `.repeat(1_000) }];
  return { role: "tool", parts: [{ type: "tool-result", callId, output }] };
}

const find = (name: string) => POLICIES.find((policy) => policy.name === name) as Policy;
const score = (name: string, rule: ThinkingRule, window = 40_000) =>
  replay(CONVERSATION, find(name), window, { thinking: rule }).thinking;

describe("thinking under a policy", () => {
  test.each<ThinkingRule>(["bound", "whole", "free"])(
    "all %s thinking lives as long as nothing is edited",
    (rule) => {
      const requests = CONVERSATION.filter(({ message }) => message.role === "assistant").length;
      const all = (requests * (requests - 1)) / 2;
      expect(score("none", rule, Number.POSITIVE_INFINITY)).toEqual({
        alive: { used: all, kept: all },
        turns: { used: requests - 1, kept: requests - 1 },
        lost: { replies: 0, tokens: 0 },
      });
    },
  );

  test.each(["cline", "roo", "openclaw", "longhaul"])(
    "%s loses bound thinking with each edit, and at most the thinking that leaves the window otherwise",
    (name) => {
      const [bound, free] = [score(name, "bound"), score(name, "free")];
      if (!bound || !free) throw new Error("no score");
      expect(bound.lost.replies).toBeGreaterThan(0);
      expect(bound.lost.tokens).toBe(100 * bound.lost.replies);
      expect(bound.alive.used).toBe(free.alive.used);
      expect(bound.alive.kept).toBeLessThanOrEqual(free.alive.kept);
      expect(bound.turns.kept).toBeLessThan(bound.turns.used);
    },
  );

  test("bound thinking in front of a change survives it, and thinking behind it never returns", () => {
    const policy: Policy = {
      name: "third",
      start: () => {
        const slots: Parameters<ReturnType<Policy["start"]>["observe"]>[0][] = [];
        return {
          observe: (slot) => void slots.push(slot),
          // From the fourth request on, the second result is shortened.
          fit: () =>
            slots.length < 7
              ? [...slots]
              : slots.map((slot) => (slot.seq === 5 ? { ...slot, message: SHORT } : slot)),
        };
      },
    };
    const few = CONVERSATION.slice(0, 10);
    const result = replay(few, policy, 100_000, { thinking: "bound" }).thinking;
    // Replies 2, 4, 6 and 8; the request before reply 8 changes entry 5, behind which only reply 6 stands.
    expect(result?.lost.replies).toBe(1);
    expect(result?.alive).toEqual({ used: 0 + 1 + 2 + 3 + 4, kept: 0 + 1 + 2 + 2 + 3 });
  });

  test("a replay that is not asked for thinking does not count it", () =>
    expect(replay(CONVERSATION, find("none"), 40_000).thinking).toBeUndefined());
});

const SHORT: Message = {
  role: "tool",
  parts: [{ type: "tool-result", callId: "c2", output: [{ type: "text", text: "short" }] }],
};
