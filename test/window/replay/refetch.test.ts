import { describe, expect, test } from "vitest";
import {
  POLICIES,
  type Policy,
  PROTOCOL,
  type RecordedMessage,
  replay,
} from "../../../src/kernel/faces/window.ts";
import { ReferenceReader } from "../../../src/window/replay/reference-reader.ts";
import {
  findRefetchChance,
  REFETCH_TABLE,
  RefetchEstimate,
} from "../../../src/window/replay/refetch-estimate.ts";
import { getClueKind, SeenClues } from "../../../src/window/replay/seen-clues.ts";

const findPolicy = (name: string) => POLICIES.find((policy) => policy.name === name) as Policy;

function say(seq: number, role: "user" | "assistant", text: string): RecordedMessage {
  return { seq, at: seq * 1_000, message: { role, parts: [{ type: "text", text }] } };
}

function call(seq: number, path: string): RecordedMessage {
  const part = { type: "tool-call", callId: `c${seq}`, name: "Read", input: { file_path: path } } as const;
  return { seq, at: seq * 1_000, message: { role: "assistant", parts: [part] } };
}

function result(seq: number, text: string): RecordedMessage {
  const part = { type: "tool-result", callId: `c${seq - 1}`, output: [{ type: "text", text }] } as const;
  return { seq, at: seq * 1_000, message: { role: "tool", parts: [part] } };
}

const LINE = "const couponOfCart = findCoupon(cart.couponId);";

describe("the chance that an agent fetches a lost clue again", () => {
  test("the chance of a second fetch depends on kind, age and whether the agent had named the clue", () => {
    const { ages, chances } = REFETCH_TABLE;
    for (const kind of ["line", "path", "name"] as const)
      for (const isNamed of [true, false]) {
        const row = chances[kind][isNamed ? "named" : "unnamed"];
        expect(row).toHaveLength(ages.length + 1);
        expect(row.every((chance) => chance >= 0 && chance <= 1)).toBe(true);
        expect(findRefetchChance({ kind, isNamed, age: 0 })).toBe(row[0]);
        expect(findRefetchChance({ kind, isNamed, age: ages[0] as number })).toBe(row[1]);
        expect(findRefetchChance({ kind, isNamed, age: 10_000 })).toBe(row.at(-1));
      }
    expect([
      getClueKind("\nreturn cart.total;"),
      getClueKind("src/cart.ts"),
      getClueKind("couponOfCart"),
    ]).toEqual(["line", "path", "name"]);
  });
});

describe("clues of a conversation", () => {
  test("clues of a conversation know the tool output that last contained them, and whether the assistant named them", () => {
    const clues = new SeenClues(new ReferenceReader());
    for (const said of [say(1, "user", "Fix src/cart.ts"), call(2, "src/cart.ts"), result(3, LINE)])
      clues.observe(said);
    expect(clues.find(`\n${LINE}`)).toMatchObject({ request: 1, isNamed: false, output: { id: "3.0" } });
    expect(clues.find("src/cart.ts")).toMatchObject({ isNamed: true, output: undefined });
    clues.observe(say(4, "assistant", "couponOfCart is wrong."));
    expect(clues.find("couponOfCart")).toMatchObject({ isNamed: true, output: { id: "3.0" } });
    expect(clues.requests).toBe(2);
    expect(clues.find("unknownName")).toBeUndefined();
  });
});

describe("the cost of forgetting", () => {
  const output = { id: "3.0", tokens: 1_000 };
  const lost = [`\n${LINE}`, { request: 0, isNamed: false, output }] as const;
  const chance = findRefetchChance({ kind: "line", age: 0, isNamed: false });

  test("the cost of forgetting is the chance of a fetch times the extra call, its output and its content", () => {
    const estimate = new RefetchEstimate(PROTOCOL);
    estimate.charge([lost], 50_000);
    const { callsPerOutput, tokensPerToken, callTokens } = REFETCH_TABLE;
    const { sums } = estimate;
    expect(sums.facts).toBe(1);
    expect(sums.calls).toBeCloseTo(chance * callsPerOutput);
    expect(sums.tokens).toBeCloseTo(chance * 1_000 * tokensPerToken);
    expect(sums.cost).toBeCloseTo(sums.calls * (50_000 * 0.1 + callTokens * 5) + sums.tokens * 1.25);
  });

  test("the cost of forgetting counts an output once while its fetched content is in the window, and includes carrying that content", () => {
    const estimate = new RefetchEstimate(PROTOCOL);
    estimate.charge([lost, lost], 50_000);
    const { calls, cost, tokens } = estimate.sums;
    estimate.charge([lost], 50_000);
    expect(estimate.sums.calls).toBeCloseTo(calls);
    expect(estimate.sums.cost).toBeCloseTo(cost + tokens * 0.1);
    for (let request = 0; request < REFETCH_TABLE.requests; request++) estimate.charge([], 50_000);
    estimate.charge([lost], 50_000);
    expect(estimate.sums.calls).toBeGreaterThan(calls);
  });

  test("the cost of forgetting is zero for words that no tool can fetch", () => {
    const estimate = new RefetchEstimate(PROTOCOL);
    estimate.charge([["couponOfCart", { request: 0, isNamed: true, output: undefined }]], 50_000);
    expect(estimate.sums).toEqual({ facts: 0, calls: 0, tokens: 0, cost: 0 });
  });

  test("a replay has no cost of forgetting in an unlimited window, and some where a policy lost needed lines", () => {
    const filler = "The ship sails on and on through a sea of plain words. ".repeat(500);
    const conversation = [
      say(1, "user", "Fix the coupon in src/cart.ts"),
      call(2, "src/cart.ts"),
      result(3, LINE),
      ...Array.from({ length: 12 }, (_, turn) => [
        call(4 + 2 * turn, `src/file${turn}.ts`),
        result(5 + 2 * turn, filler),
      ]).flat(),
      say(40, "assistant", `I change this line:\n${LINE}`),
    ];
    const unbounded = replay(conversation, findPolicy("none"), Number.POSITIVE_INFINITY);
    expect(unbounded.refetch).toEqual({ facts: 0, calls: 0, tokens: 0, cost: 0 });
    const cut = replay(conversation, findPolicy("roo"), 40_000);
    expect(cut.lines.kept).toBeLessThan(cut.lines.used);
    expect(cut.refetch.facts).toBeGreaterThan(0);
    expect(cut.refetch.cost).toBeGreaterThan(0);
    expect(replay(conversation, findPolicy("roo"), 40_000)).toEqual(cut);
  });
});
