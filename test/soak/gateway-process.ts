// A gateway over a real store in its own process; the parent process sends orders over IPC.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getHeapStatistics, writeHeapSnapshot } from "node:v8";
import { tendHeap } from "../../src/cli/serving/serve-gateway.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { loadConfig, openGateway } from "../../src/server/gateway/index.ts";
import { fillStore } from "./fill-store.ts";
import { KernelWork } from "./kernel-work.ts";
import { countLiveObjects } from "./live-objects.ts";
import type { Order, Started } from "./orders.ts";
import { journalBytes, residentParts, takeSample } from "./sample.ts";

const { folder, upstream, recall, limits, kernelLimits } = JSON.parse(process.argv[2] ?? "{}") as Started;
const file = join(folder, "longhaul.json");
const settings = {
  port: 0,
  log: { level: "silent" },
  recall: { context: recall !== "none", tools: false },
  upstreams: [
    { name: "scripted", baseUrl: upstream, apis: ["anthropic", "openai-chat", "openai-responses"] },
  ],
  limits,
};
writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
const { config } = loadConfig({ path: file, cwd: folder, env: {}, flags: {} });
const path = join(folder, "store");
const kernel = await openKernel({
  path,
  models: config.models,
  limits: kernelLimits,
  ...(recall === "vectors" ? {} : { embedder: null }),
});
const gateway = await openGateway({ kernel, config: () => config, log: () => undefined, env: {} });
const leaveHeap = tendHeap(() => gateway.status().inFlight);
const work = new KernelWork(kernel);

async function quiet(): Promise<void> {
  while (gateway.status().inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function sample(): Promise<unknown> {
  // Measured before the deletion in `settle`, which empties the journals.
  const walBytes = journalBytes(path);
  if (recall !== "none") await work.settle();
  const { total_physical_size: physical } = getHeapStatistics();
  // Recall and compaction cause peaks of garbage, whose pages V8 keeps and releases 40 MB at a time.
  const collection = recall === "none" ? "usual" : "thorough";
  return { ...(await takeSample(kernel, { walBytes, collection })), ...residentParts(), physical };
}

async function carryOut(order: Order): Promise<unknown> {
  switch (order.type) {
    case "work":
      await work.round(order.round);
      return work.counts;
    case "fill":
      await fillStore(kernel, order.messages);
      return kernel.size();
    case "sample":
      await quiet();
      return sample();
    case "objects":
      await quiet();
      return countLiveObjects();
    case "snapshot":
      return writeHeapSnapshot(order.path);
    case "close":
      leaveHeap();
      await gateway.close();
      await kernel.close();
      return undefined;
  }
}

process.on("message", (order: Order) => {
  carryOut(order).then(
    (result) => {
      process.send?.({ id: order.id, result });
      if (order.type === "close") process.disconnect();
    },
    (error) => process.send?.({ id: order.id, error: String(error?.stack ?? error) }),
  );
});
// The gateway must not outlive a killed parent.
process.once("disconnect", () => process.exit());
process.send?.({ url: gateway.url });
