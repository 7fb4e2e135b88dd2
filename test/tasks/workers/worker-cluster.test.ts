import { expect, onTestFinished } from "vitest";
import { runCluster } from "../../soak/cluster/cluster.ts";
import { createWorkerCluster } from "../../soak/cluster/task-load.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTestIf } from "../../support/proof.ts";

const found = await findTestPostgres();

proofTestIf(!("problem" in found))(
  `workers and the database die at random, and each task ends once with one notice (${describeProblem(found)})`,
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const { actors, loads } = await createWorkerCluster(`${server.url}?schema=cluster`);
    const report = await runCluster({ server, actors, loads, runMs: 30_000, minKills: 3, seed: 1 });
    expect(Math.min(...Object.values(report.kills))).toBeGreaterThanOrEqual(3);
    expect(report.done.tasks).toBeGreaterThan(10);
  },
  300_000,
);
