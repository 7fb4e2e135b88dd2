import assert from "node:assert/strict";
import type { BudgetStore } from "../../../log/store/budget-store.ts";
import type { StoreProof } from "./store-proof.ts";

const act = { at: 1, actor: "local", act: "budget.set", target: "b", details: {} };
const budget = (id: string, person?: string) =>
  ({ id, ...(person && { person }), unit: "usd", amount: 10, period: "month" }) as const;

/** Reserves an amount of each budget of 10. */
const reserve = (
  budgets: BudgetStore,
  id: string,
  {
    amount = 4,
    names = ["b"],
    now = 0,
    expiresAt = 100,
  }: { amount?: number; names?: readonly string[]; now?: number; expiresAt?: number } = {},
) => {
  const shares = names.map((name) => ({ budget: name, start: 0, limit: 10, amount, keepFrom: 0 }));
  return budgets.reserve({ id, owner: "gateway", expiresAt, shares }, now);
};

const use = (spent: number, reserved: number) => ({ budget: "b", start: 0, spent, reserved });

export const budgetCases: readonly StoreProof[] = [
  [
    "budgets: those of a person and of everybody are found, and an amount can change",
    async ({ budgets }) => {
      await budgets.put(budget("a", "alice"), act);
      await budgets.put({ ...budget("b"), project: "shop", model: "m*" }, act);
      await budgets.put(budget("c", "bob"), act);
      await budgets.put({ ...budget("a", "alice"), amount: 20 }, act);
      assert.deepEqual(await budgets.list("alice"), [
        { ...budget("a", "alice"), amount: 20 },
        { ...budget("b"), project: "shop", model: "m*" },
      ]);
      assert.equal((await budgets.list()).length, 3);
      assert.equal(await budgets.remove("a", act), true);
      assert.equal(await budgets.remove("a", act), false);
    },
  ],
  [
    "budgets: estimates count until the actual amounts replace them, once",
    async ({ budgets }) => {
      await budgets.put(budget("b"), act);
      assert.deepEqual(await reserve(budgets, "one"), { refused: [], uses: [use(0, 4)] });
      assert.deepEqual(await reserve(budgets, "one"), { refused: [], uses: [use(0, 4)] });
      assert.deepEqual(await reserve(budgets, "two", { amount: 6 }), { refused: [], uses: [use(0, 10)] });
      assert.deepEqual(await reserve(budgets, "three"), { refused: ["b"], uses: [use(0, 10)] });
      await budgets.settle("two", [{ budget: "b", amount: 1 }]);
      await budgets.settle("two", [{ budget: "b", amount: 1 }]);
      assert.deepEqual(await budgets.uses([{ budget: "b", start: 0 }]), [use(1, 4)]);
      await budgets.settle("one", []);
      assert.deepEqual(await reserve(budgets, "three"), { refused: [], uses: [use(1, 4)] });
    },
  ],
  [
    "budgets: a request that one of them refuses is counted in none",
    async ({ budgets }) => {
      await budgets.put(budget("a"), act);
      await budgets.put(budget("b"), act);
      await reserve(budgets, "one", { amount: 10 });
      const { refused } = await reserve(budgets, "two", { names: ["a", "b"] });
      assert.deepEqual(refused, ["b"]);
      const [a] = await budgets.uses([{ budget: "a", start: 0 }]);
      assert.equal(a?.reserved ?? 0, 0);
      // One that was removed meanwhile limits nothing.
      assert.deepEqual((await reserve(budgets, "three", { names: ["a", "gone"] })).refused, []);
    },
  ],
  [
    "budgets: the estimate of a gateway that died counts as spent, until a late settlement replaces it",
    async ({ budgets }) => {
      await budgets.put(budget("b"), act);
      await reserve(budgets, "one", { amount: 9 });
      await budgets.renew("gateway", 200);
      assert.deepEqual(await reserve(budgets, "two", { amount: 1, now: 150, expiresAt: 400 }), {
        refused: [],
        uses: [use(0, 10)],
      });
      const after = await reserve(budgets, "three", { now: 201, expiresAt: 400 });
      assert.deepEqual(after, { refused: ["b"], uses: [use(9, 1)] });
      await budgets.settle("one", [{ budget: "b", amount: 3 }]);
      await budgets.settle("one", [{ budget: "b", amount: 3 }]);
      assert.deepEqual(await budgets.uses([{ budget: "b", start: 0 }]), [use(3, 1)]);
      assert.deepEqual((await reserve(budgets, "three", { now: 201, expiresAt: 400 })).refused, []);
    },
  ],
  [
    "budgets: amounts that no request can cost are refused, and nothing is counted",
    async ({ budgets }) => {
      await budgets.put(budget("b"), act);
      await reserve(budgets, "one");
      for (const amount of [-1e12, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const refusal = { code: "ARGUMENT_INVALID" };
        await assert.rejects(reserve(budgets, "two", { amount }), refusal);
        await assert.rejects(budgets.settle("one", [{ budget: "b", amount }]), refusal);
      }
      assert.deepEqual(await budgets.uses([{ budget: "b", start: 0 }]), [use(0, 4)]);
      await budgets.settle("one", [{ budget: "b", amount: 2 }]);
      assert.deepEqual(await budgets.uses([{ budget: "b", start: 0 }]), [use(2, 0)]);
    },
  ],
  [
    "budgets: of many requests at once only those are admitted that fit",
    async ({ budgets }) => {
      await budgets.put(budget("b"), act);
      const ids = Array.from({ length: 20 }, (_, at) => `request ${at}`);
      const results = await Promise.all(ids.map((id) => reserve(budgets, id, { amount: 2 })));
      assert.equal(results.filter(({ refused }) => refused.length === 0).length, 5);
    },
  ],
  [
    "budgets: counts of periods that are over are dropped",
    async ({ budgets }) => {
      await budgets.put(budget("b"), act);
      const share = { budget: "b", limit: 10, amount: 1 };
      const make = (id: string, start: number, keepFrom: number) =>
        budgets.reserve({ id, owner: "g", expiresAt: 100, shares: [{ ...share, start, keepFrom }] }, 0);
      await make("one", 0, 0);
      await make("two", 60, 30);
      const uses = await budgets.uses([
        { budget: "b", start: 0 },
        { budget: "b", start: 60 },
      ]);
      assert.deepEqual(uses, [{ budget: "b", start: 60, spent: 0, reserved: 1 }]);
      await budgets.settle("one", [{ budget: "b", amount: 1 }]);
    },
  ],
];
