import { describe, expect } from "vitest";
import { runGatewayCluster } from "../soak/cluster/gateway-cluster.ts";
import { createWorkerCluster } from "../soak/cluster/task-load.ts";
import { findPostgresBinaries } from "../support/postgres/postgres-binaries.ts";
import { proofTest } from "../support/proof.ts";

const binaries = findPostgresBinaries();
const isMissing = typeof binaries === "string";

describe.skipIf(isMissing)(`a cluster${isMissing ? `: skipped, because ${binaries}` : ""}`, () => {
  proofTest(
    "a cluster loses, doubles and mixes nothing while its gateways, workers and database die, and keeps its budgets",
    async () => {
      const report = await runGatewayCluster({
        runMs: 35_000,
        minKills: 1,
        seed: 7,
        conversations: 6,
        extend: createWorkerCluster,
      });
      expect(report).toMatchObject({ restarts: 1 });
      expect(report.done.conversations).toBeGreaterThan(20);
      expect(report.done.tasks).toBeGreaterThan(20);
      expect(report.done.budgets).toBeGreaterThan(0);
    },
    300_000,
  );
});
