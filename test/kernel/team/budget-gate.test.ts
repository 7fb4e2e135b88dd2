import { afterEach, expect, test, vi } from "vitest";
import { BudgetGate } from "../../../src/kernel/team/budget-gate.ts";
import type { BudgetStore } from "../../../src/log/store/budget-store.ts";
import { testKernel } from "../../support/kernel.ts";

const by = "test";
afterEach(() => vi.useRealTimers());

test.each([
  ["shop", "Shop"],
  ["caf\u00e9", "cafe\u0301"],
])(
  "a budget of the project %j counts the project %j, whose folder is spelled differently",
  async (name, project) => {
    const kernel = await testKernel();
    await kernel.team.setBudget({ amount: 1, unit: "requests", period: "total", project: name }, { by });
    await using gate = kernel.team.openGate(() => undefined);
    const request = { person: "alice", models: ["m"] };
    const decide = async (own: string | undefined) =>
      (await gate.reserve({ ...request, project: own }, { tokens: 1, usd: 0 })).type;
    expect([
      await decide(project),
      await decide(name),
      await decide("shops"),
      await decide(undefined),
    ]).toEqual(["held", "refused", "held", "held"]);
  },
);

test("a settlement that the store refused is tried again, because the estimate would stay reserved", async () => {
  vi.useFakeTimers();
  let isAway = true;
  const settled: unknown[] = [];
  const errors: unknown[] = [];
  const budget = { id: "b", amount: 100, unit: "tokens", period: "total" } as const;
  const store: Pick<BudgetStore, "list" | "reserve" | "settle" | "renew"> = {
    list: async () => [budget],
    reserve: async () => ({ refused: [], uses: [] }),
    renew: async () => undefined,
    async settle(_, amounts) {
      if (isAway) throw new Error("The disk is full.");
      settled.push(amounts);
    },
  };
  const gate = new BudgetGate(store as BudgetStore, { now: () => Date.now() }, (error) => errors.push(error));
  const request = { person: "alice", project: undefined, models: ["m"] };
  const decision = await gate.reserve(request, { tokens: 50, usd: 0 });
  if (decision.type !== "held") throw new Error(decision.type);
  await expect(decision.hold.settle({ tokens: 7, usd: 0 })).rejects.toThrow("The disk is full.");
  await vi.advanceTimersByTimeAsync(30_000);
  expect([settled.length, errors.length]).toEqual([0, 1]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(settled).toEqual([[{ budget: "b", amount: 7 }]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(settled).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
