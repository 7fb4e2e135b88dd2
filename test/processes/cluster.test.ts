import { describe, expect } from "vitest";
import { runGatewayCluster } from "../soak/cluster/gateway-cluster.ts";
import { findPostgresBinaries } from "../support/postgres/postgres-binaries.ts";
import { proofTest } from "../support/proof.ts";

const binaries = findPostgresBinaries();
const isMissing = typeof binaries === "string";

describe.skipIf(isMissing)(`a cluster${isMissing ? `: skipped, because ${binaries}` : ""}`, () => {
  proofTest(
    "loses, doubles and mixes nothing while its gateways and its database die",
    async () => {
      const report = await runGatewayCluster({ runMs: 40_000, minKills: 4, seed: 7, conversations: 6 });
      expect(report).toMatchObject({ restarts: 1 });
      expect(report.done.conversations).toBeGreaterThan(20);
    },
    300_000,
  );
});
