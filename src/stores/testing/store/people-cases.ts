import assert from "node:assert/strict";
import { computeAuditDigest } from "../../../log/store/audit-store.ts";
import type { StoreProof } from "./store-proof.ts";

const act = (name: string, at = 1) => ({ at, actor: "local", act: name, target: "alice", details: { a: 1 } });
const alice = { name: "alice", role: "member", createdAt: 5 } as const;
const token = (digest: string, createdAt = 5) => ({ digest, person: "alice", createdAt });

export const peopleCases: readonly StoreProof[] = [
  [
    "people: added, changed and listed by name",
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
    "people: a token leads to its person, and a new one ends the others",
    async ({ people }) => {
      await people.addToken(token("d1"), { person: alice }, act("token.add"));
      await people.addToken({ ...token("d2", 6), expiresAt: 50 }, {}, act("token.add"));
      await people.addToken(token("d3", 7), { othersEndAt: 100 }, act("token.rotate"));
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
    "people: revoking ends the tokens that are valid, once",
    async ({ people }) => {
      await people.addToken({ ...token("d1"), expiresAt: 10 }, { person: alice }, act("token.add"));
      await people.addToken(token("d2", 6), {}, act("token.add"));
      assert.equal(await people.revoke("alice", 20, act("token.revoke")), 1);
      assert.equal(await people.revoke("alice", 30, act("token.revoke")), 0);
      assert.equal((await people.findToken("d2"))?.token.revokedAt, 20);
    },
  ],
  [
    "people: who is removed leaves no token, budget or count",
    async ({ people, budgets }) => {
      await people.addToken(token("d1"), { person: alice }, act("token.add"));
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
    "audit: every act is chained to the one before, also when many act at once",
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
