import assert from "node:assert/strict";
import { computeAuditDigest } from "../../../log/store/audit-store.ts";
import type { BudgetStore } from "../../../log/store/budget-store.ts";
import type { StoreProof } from "./store-proof.ts";

const act = (name: string, at = 1) => ({ at, actor: "local", act: name, target: "alice", details: { a: 1 } });
const alice = { name: "alice", role: "member", createdAt: 5 } as const;
const token = (digest: string, createdAt = 5) => ({ digest, person: "alice", createdAt });

export const peopleCases: readonly StoreProof[] = [
  [
    "people: people can be added, changed and listed by name",
    async ({ people }) => {
      assert.equal(await people.isInUse(), false);
      await people.put(alice, act("person.add"));
      await people.put({ ...alice, name: "Zoë", role: "admin", models: ["a", "b*"] }, act("person.add"));
      await people.put({ ...alice, createdAt: 9, upstreams: ["box"] }, act("person.change"));
      assert.equal(await people.isInUse(), true);
      assert.deepEqual(await people.list(), [
        { ...alice, name: "Zoë", role: "admin", models: ["a", "b*"] },
        { ...alice, upstreams: ["box"] },
      ]);
      assert.equal(await people.get("bob"), undefined);
    },
  ],
  [
    "people: a token leads to its person, and a new token ends the others",
    async ({ people }) => {
      await people.addToken(token("d1"), { person: alice, allows: true }, act("token.add"));
      await people.addToken({ ...token("d2", 6), expiresAt: 50 }, { allows: true }, act("token.add"));
      await people.addToken(token("d3", 7), { othersEndAt: 100, allows: true }, act("token.rotate"));
      const ends = (await people.tokens("alice")).map(({ digest, expiresAt }) => [digest, expiresAt]);
      assert.deepEqual(ends, [
        ["d1", 100],
        ["d2", 50],
        ["d3", undefined],
      ]);
      assert.deepEqual(await people.findToken("d3"), { token: token("d3", 7), person: alice });
      assert.equal(await people.findToken("d4"), undefined);
    },
  ],
  [
    "people: revoking ends the valid tokens, once",
    async ({ people }) => {
      await people.addToken(
        { ...token("d1"), expiresAt: 10 },
        { person: alice, allows: true },
        act("token.add"),
      );
      await people.addToken(token("d2", 6), { allows: true }, act("token.add"));
      assert.equal(await people.revoke("alice", 20, act("token.revoke")), 1);
      assert.equal(await people.revoke("alice", 30, act("token.revoke")), 0);
      assert.equal((await people.findToken("d2"))?.token.revokedAt, 20);
    },
  ],
  [
    "people: a revoked person gets no token until somebody allows it",
    async ({ people, audit }) => {
      await people.addToken(token("d1"), { person: alice, allows: true }, act("token.add"));
      await people.revoke("alice", 20, act("token.revoke"));
      assert.equal((await people.get("alice"))?.blockedAt, 20);
      const before = (await audit.list({ after: 0, limit: 10 })).length;
      assert.equal(await people.addToken(token("d2"), { allows: false }, act("token.sign-in")), false);
      assert.equal(await people.findToken("d2"), undefined);
      assert.equal((await audit.list({ after: 0, limit: 10 })).length, before);
      assert.equal(await people.addToken(token("d3"), { allows: true }, act("token.rotate")), true);
      assert.deepEqual(await people.get("alice"), alice);
      assert.equal(await people.addToken(token("d4"), { allows: false }, act("token.sign-in")), true);
    },
  ],
  [
    "people: an ended sign-in ends its tokens, and no others",
    async ({ people }) => {
      const facts = { ...token("d1"), limitAt: 90, signIn: { subject: "s", session: "one" } };
      await people.addToken(facts, { person: alice, allows: true }, act("token.sign-in"));
      assert.deepEqual((await people.findToken("d1"))?.token, facts);
      const other = { ...token("d2", 6), signIn: { subject: "s", session: "two" } };
      await people.addToken(other, { allows: true }, act("token.sign-in"));
      await people.addToken(token("d3", 7), { allows: true }, act("token.add"));
      const end = (wanted: Parameters<typeof people.endSignIns>[0]) =>
        people.endSignIns(wanted, 50, act("token.sign-out"));
      assert.equal(await end({ subject: "t" }), 0);
      assert.equal(await end({ subject: "s", session: "one" }), 1);
      assert.equal(await end({ digest: "d3" }), 0);
      assert.equal(await end({ subject: "s" }), 1);
      const ends = (await people.tokens("alice")).map(({ expiresAt }) => expiresAt);
      assert.deepEqual(ends, [50, 50, undefined]);
    },
  ],
  [
    "people: a removed person leaves no token, budget or count",
    async ({ people, budgets }) => {
      await people.addToken(token("d1"), { person: alice, allows: true }, act("token.add"));
      const budget = { id: "b", person: "alice", unit: "usd", amount: 1, period: "day" } as const;
      await budgets.put(budget, act("budget.set"));
      const share = { budget: "b", start: 0, limit: 1, amount: 0.5, keepFrom: 0 };
      await budgets.reserve({ id: "r", owner: "g", expiresAt: 100, shares: [share] }, 0);
      const removed = await people.remove("alice", act("person.erase"));
      assert.deepEqual(removed, { people: 1, tokens: 1, budgets: 1 });
      assert.equal(await people.findToken("d1"), undefined);
      assert.deepEqual(await budgets.list(), []);
      assert.deepEqual(await budgets.uses([{ budget: "b", start: 0 }]), []);
      await budgets.settle("r", [{ budget: "b", amount: 1 }]);
    },
  ],
  [
    "audit: every act is chained to the one before, even when many act at once",
    async ({ audit, people }) => {
      await people.put(alice, act("person.add"));
      await Promise.all(Array.from({ length: 10 }, (_, at) => audit.append(act("config.change", at))));
      const entries = await audit.list({ after: 0, limit: 100 });
      assert.deepEqual(
        entries.map(({ seq }) => seq),
        Array.from({ length: 11 }, (_, at) => at + 1),
      );
      let previous = "";
      for (const entry of entries) {
        assert.equal(entry.previous, previous);
        assert.equal(entry.digest, computeAuditDigest(entry));
        previous = entry.digest;
      }
      assert.deepEqual(entries[0]?.details, { a: 1 });
      assert.deepEqual(await audit.list({ after: 10, limit: 5 }), entries.slice(10));
    },
  ],
];

const setting = { at: 1, actor: "local", act: "budget.set", target: "b", details: {} };

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
    "budgets: budgets of a person and of everybody are found, and an amount can be changed",
    async ({ budgets }) => {
      await budgets.put(budget("a", "alice"), setting);
      await budgets.put({ ...budget("b"), project: "shop", model: "m*" }, setting);
      await budgets.put(budget("c", "bob"), setting);
      await budgets.put({ ...budget("a", "alice"), amount: 20 }, setting);
      assert.deepEqual(await budgets.list("alice"), [
        { ...budget("a", "alice"), amount: 20 },
        { ...budget("b"), project: "shop", model: "m*" },
      ]);
      assert.equal((await budgets.list()).length, 3);
      assert.equal(await budgets.remove("a", setting), true);
      assert.equal(await budgets.remove("a", setting), false);
    },
  ],
  [
    "budgets: estimates count until the actual amounts replace them, once",
    async ({ budgets }) => {
      await budgets.put(budget("b"), setting);
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
    "budgets: a request that one budget refuses is counted in none",
    async ({ budgets }) => {
      await budgets.put(budget("a"), setting);
      await budgets.put(budget("b"), setting);
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
      await budgets.put(budget("b"), setting);
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
    "budgets: impossible amounts are refused, and nothing is counted",
    async ({ budgets }) => {
      await budgets.put(budget("b"), setting);
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
    "budgets: of many simultaneous requests only those that fit are admitted",
    async ({ budgets }) => {
      await budgets.put(budget("b"), setting);
      const ids = Array.from({ length: 20 }, (_, at) => `request ${at}`);
      const results = await Promise.all(ids.map((id) => reserve(budgets, id, { amount: 2 })));
      assert.equal(results.filter(({ refused }) => refused.length === 0).length, 5);
    },
  ],
  [
    "budgets: counts of past periods are dropped",
    async ({ budgets }) => {
      await budgets.put(budget("b"), setting);
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
