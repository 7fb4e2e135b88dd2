import { expect, test } from "vitest";
import { formatClusterReport } from "./format-report.ts";
import { runGatewayCluster } from "./gateway-cluster.ts";
import { createWorkerCluster } from "./task-load.ts";

const minutes = Number(process.env.LONGHAUL_SOAK_MINUTES ?? 10);
const seed = Number(process.env.LONGHAUL_SEED) || 1;

test(`a cluster loses, duplicates and mixes nothing while its processes and database are killed (${minutes} minutes)`, async () => {
  const report = await runGatewayCluster({
    runMs: minutes * 60_000,
    seed,
    conversations: 12,
    extend: createWorkerCluster,
    log: (line) => process.stdout.write(`${new Date().toISOString()} ${line}\n`),
  });
  process.stdout.write(formatClusterReport(report));
  expect(report.restarts).toBe(1);
  expect(Object.values(report.kills).some((count) => count > 0)).toBe(true);
});
