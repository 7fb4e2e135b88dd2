import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { POLICIES } from "../../../src/window/policies/known-policies.ts";
import type { Policy } from "../../../src/window/policy.ts";
import { type RecordedMessage, toConversation } from "../../../src/window/replay/recorded-message.ts";
import { replay } from "../../../src/window/replay/replay-conversation.ts";
import { proofTest } from "../../support/proof.ts";

const SYSTEM = 12_000;
const none = POLICIES.find(({ name }) => name === "none") as Policy;
const longhaul = POLICIES.find(({ name }) => name === "longhaul") as Policy;
const tokens = (count: number) => "x".repeat(count * 4);
const text = (role: Message["role"], words: string): Message => ({
  role,
  parts: [{ type: "text", text: words }],
});
const call = (callId: string): Message => ({
  role: "assistant",
  parts: [{ type: "tool-call", callId, name: "read", input: { path: "a.ts" } }],
});
const result = (callId: string, words: string): Message => ({
  role: "tool",
  parts: [{ type: "tool-result", callId, output: [{ type: "text", text: words }] }],
});
const said = (...messages: readonly (readonly [number, Message])[]): readonly RecordedMessage[] =>
  messages.map(([at, message], index) => ({ seq: index + 1, at, message }));

describe("a recorded conversation", () => {
  test("a recorded conversation joins each reply into one message, followed by one message with the results of its calls", () => {
    const log = said(
      [0, text("user", "go")],
      [1, text("assistant", "I read")],
      [2, call("a")],
      [3, call("b")],
      [4, result("b", "B")],
      [5, result("a", "A")],
      [6, text("assistant", "done")],
    );
    const conversation = [...toConversation(log)];
    expect(conversation.map(({ message }) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(conversation[1]?.message.parts).toHaveLength(3);
    expect(conversation[2]?.message.parts).toMatchObject([{ callId: "a" }, { callId: "b" }]);
  });

  test("a recorded conversation marks results that were never recorded, and drops results without a call", () => {
    const log = said(
      [0, text("user", "go")],
      [1, call("a")],
      [2, text("user", "stop")],
      [3, result("z", "?")],
    );
    const conversation = [...toConversation(log)];
    expect(conversation.map(({ message }) => message.role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(conversation[2]?.message.parts[0]).toMatchObject({ output: [{ text: "[no result recorded]" }] });
  });
});

describe("a replay", () => {
  test("a replay charges cache reads for the unchanged beginning while the cache is hot, and writes for the rest", () => {
    const log = said(
      [0, text("user", tokens(1_000))],
      [1_000, text("assistant", tokens(100))],
      [2_000, text("user", tokens(200))],
      [3_000, text("assistant", tokens(100))],
      [900_000, text("user", tokens(10))],
      [901_000, text("assistant", "end")],
    );
    const score = replay(log, none, Number.POSITIVE_INFINITY);
    const first = 1.25 * (SYSTEM + 1_000);
    const second = 0.1 * (SYSTEM + 1_000) + 1.25 * 300;
    const cold = 1.25 * (SYSTEM + 1_410);
    expect(score).toMatchObject({ requests: 3, edits: 0, peakTokens: SYSTEM + 1_410 });
    expect(score.cost).toBeCloseTo(first + second + cold, 6);
  });

  proofTest("a replay keeps everything in an unlimited window, and less in a small one", () => {
    const rounds = Array.from({ length: 120 }, (_, round) => [
      [round * 20_000, call(`c${round}`)] as const,
      [
        round * 20_000 + 1,
        result(
          `c${round}`,
          Array.from({ length: 60 }, (_, line) => `  const symbol_${round}_${line} = compute(${line});`).join(
            "\n",
          ),
        ),
      ] as const,
      [
        round * 20_000 + 2,
        text("assistant", `symbol_${Math.max(0, round - 40)}_7 and symbol_${round}_3`),
      ] as const,
    ]).flat();
    const conversation = [...toConversation(said([0, text("user", "look at everything")], ...rounds))];
    const free = replay(conversation, none, Number.POSITIVE_INFINITY);
    expect(free.identifiers.kept).toBe(free.identifiers.used);
    const small = replay(conversation, longhaul, 40_000);
    expect(small.peakTokens).toBeLessThanOrEqual(32_000);
    expect(small.cost).toBeLessThan(free.cost);
    expect(small.identifiers.kept).toBeLessThanOrEqual(small.identifiers.used);
    expect(replay(conversation, longhaul, 40_000)).toEqual(small);
  });

  test("a replay counts the edits whose old text and path were still in the window", () => {
    const source = Array.from(
      { length: 40 },
      (_, line) => `   ${line}→  const kept_${line} = compute(${line});`,
    );
    const edit = (callId: string, old_string: string): Message => ({
      role: "assistant",
      parts: [{ type: "tool-call", callId, name: "Edit", input: { file_path: "src/a.ts", old_string } }],
    });
    const noise = Array.from(
      { length: 30 },
      (_, round) =>
        [
          [2 + round, call(`n${round}`)],
          [2 + round, result(`n${round}`, `${tokens(1_000)} ${round}`)],
        ] as const,
    ).flat();
    const conversation = [
      ...toConversation(
        said(
          [0, text("user", "Change src/a.ts.")],
          [1, call("a")],
          [1, result("a", source.join("\n"))],
          [2, edit("e1", "  const kept_3 = compute(3);\n  const kept_4 = compute(4);")],
          [2, result("e1", "done")],
          ...noise,
          [40, edit("e2", "  const kept_9 = compute(9);")],
          [40, result("e2", "done")],
          [41, edit("e3", "  const never_shown = compute(9);")],
        ),
      ),
    ];
    const free = replay(conversation, none, Number.POSITIVE_INFINITY);
    expect(free.editTexts).toEqual({ used: 2, kept: 2 });
    expect(free.paths.kept).toBe(free.paths.used);
    const cut: Policy = {
      name: "last",
      start: () => {
        const window: Parameters<ReturnType<Policy["start"]>["observe"]>[0][] = [];
        return { observe: (slot) => void window.push(slot), fit: () => window.slice(-3) };
      },
    };
    expect(replay(conversation, cut, 40_000).editTexts).toEqual({ used: 2, kept: 1 });
  });
});
