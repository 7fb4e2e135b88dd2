import { expect } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { createSchemaUrl, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTestIf } from "../../support/proof.ts";

const server = await findTestPostgres();
const by = "test";

proofTestIf(!("problem" in server))(
  "kernels over one PostgreSQL never admit more than the budget together, and settle the actual amounts",
  async () => {
    const url = createSchemaUrl(server);
    await using one = await openKernel({ store: url, embedder: null });
    await using other = await openKernel({ store: url, embedder: null });
    const { secret } = await one.team.add("alice", { by });
    expect((await other.team.authenticate(secret))?.state).toBe("valid");
    await one.team.setBudget({ person: "alice", amount: 100, unit: "tokens", period: "total" }, { by });
    await one.team.setBudget({ amount: 1_000, unit: "tokens", period: "total" }, { by });
    const fail = (error: unknown) => {
      throw error;
    };
    const gates = [one.team.openGate(fail), other.team.openGate(fail)];
    const request = { person: "alice", project: undefined, models: ["m"] };
    const decisions = await Promise.all(
      Array.from({ length: 60 }, (_, at) => gates[at % 2]?.reserve(request, { tokens: 5, usd: 0 })),
    );
    const holds = decisions.flatMap((decision) => (decision?.type === "held" ? [decision.hold] : []));
    expect(holds).toHaveLength(20);
    await Promise.all(holds.map((hold) => hold.settle({ tokens: 7, usd: 0 })));
    const budgets = await other.team.budgets("alice");
    expect(budgets.map(({ spent, reserved }) => [spent, reserved])).toEqual([
      [140, 0],
      [140, 0],
    ]);
    await other.team.revoke("alice", { by });
    expect((await one.team.authenticate(secret))?.state).toBe("revoked");
    expect(await one.team.verifyAudit()).toBeUndefined();
    for (const gate of gates) gate.close();
  },
);
