import fc from "fast-check";
import { expect } from "vitest";
import { spendUnasked } from "../../../../src/server/gateway/limits/own-spending.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

type Gate = Parameters<typeof spendUnasked>[0]["gate"];

/** A store that two gateways share, as far as a spending looks at it. */
class World {
  isThere = true;
  isValid = true;
  limit = 10;
  reserved = 0;
  spent = 0;
  readonly sent: { readonly isThere: boolean; readonly isValid: boolean }[] = [];
  readonly stored: { readonly isThere: boolean; readonly isValid: boolean }[] = [];

  note() {
    const { isThere, isValid } = this;
    return { isThere, isValid };
  }
}

type Act = "revoke" | "erase" | "close" | "kill";

sizedTest(
  "no interleaving of revocations, erasures, budgets and kills sends, stores or spends anything without a right",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom<Act>("revoke", "erase", "close", "kill"), { maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (scheduler, acts, count) => {
          const world = new World();
          const at = <Value>(name: string, read: () => Value) =>
            scheduler.schedule(Promise.resolve(), name).then(read);
          const killed = new Set<number>();
          const runs = Array.from({ length: count * 2 }, (_, number) => {
            const gateway = number % 2;
            // A gateway that was killed goes no further than its last await.
            const live = <Value>(name: string, read: () => Value) =>
              at(name, () => {
                if (killed.has(gateway)) throw new Error("killed");
                return read();
              });
            const gate = {
              reserve: (_request: unknown, { usd = 0 }: { readonly usd?: number }) =>
                live("reserve", () => {
                  if (world.spent + world.reserved + usd > world.limit)
                    return { type: "refused", budget: {} };
                  world.reserved += usd;
                  const end = (spent: number) =>
                    live("settle", () => {
                      world.reserved -= usd;
                      world.spent += spent;
                    });
                  const hold = {
                    release: () => end(0),
                    settle: (actual: { usd?: number }) => end(actual.usd ?? 0),
                  };
                  return { type: "held", hold };
                }),
            } as unknown as Gate;
            const kernel = { find: () => live("find", () => (world.isThere ? ({} as never) : undefined)) };
            return spendUnasked(
              { kernel, gate },
              {
                session: "talk",
                person: "alice",
                project: undefined,
                models: ["m"],
                estimate: { tokens: 1, usd: 3 },
                ceiling: { purpose: "test", usd: 10 },
                isAdmitted: () => live("admit", () => world.isValid),
              },
              async () => {
                world.sent.push(world.note());
                return live("reply", () => ({ reply: "words", actual: { tokens: 1, usd: 2 } }));
              },
            ).then(
              (reply) => reply !== undefined && world.stored.push(world.note()),
              () => undefined,
            );
          });
          for (const act of acts)
            void at(act, () => {
              if (act === "revoke") world.isValid = false;
              if (act === "erase") world.isThere = false;
              if (act === "close") world.limit = 0;
              if (act === "kill") killed.add(0);
            });
          await scheduler.waitFor(Promise.all(runs));
          // The last question before a sending is for the token; the one before it for the conversation.
          expect(world.sent.every(({ isValid }) => isValid)).toBe(true);
          expect(world.stored.every(({ isValid }) => isValid)).toBe(true);
          expect(world.spent + world.reserved).toBeLessThanOrEqual(10);
          if (!killed.has(0)) expect(world.reserved).toBe(0);
        },
      ),
      { numRuns: proofRounds(10_000, 300) },
    );
  },
);
