import type { ChildPlace } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { linkToSession, serveStore } from "./served-store.ts";
import { writeTalk } from "./write-talk.ts";

interface OpenFigures {
  readonly pageMs: number;
  readonly gatewayMs: number;
  readonly elements: number;
}

/** Opening a very long conversation at its end, by its address. */
export const openMillion: Measurement = {
  name: "opening a very long conversation",
  async *run(bench) {
    const entries = bench.isQuick ? 50_000 : 1_000_000;
    const { pageMs, gatewayMs, elements } = await bench.child(
      `${entries} entries`,
      import.meta.url,
      measureOpening,
      entries,
    );
    const unit = `ms of CPU, ${entries.toLocaleString("en")} entries`;
    yield toRow({ id: "dashboard.open.page", value: pageMs, unit: `${unit}: the page` });
    yield toRow({ id: "dashboard.open.gateway", value: gatewayMs, unit: `${unit}: the gateway` });
    yield toRow({
      id: "dashboard.open",
      value: pageMs + gatewayMs,
      unit: `${unit}: both, until the last page shows`,
      goal: atMost(300, "ms"),
    });
    yield toRow({ id: "dashboard.open.elements", value: elements, unit: "elements in the document" });
  },
};

/** The conversation is opened several times; the median counts. */
const ROUNDS = 5;

export async function measureOpening(entries: number, { folder }: ChildPlace): Promise<OpenFigures> {
  const store = await serveStore(folder, (kernel) => writeTalk(kernel, "long", entries));
  const { page, meter, url } = store;
  const rounds: OpenFigures[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      await page.goto(`${url}/healthz`);
      const before = await meter.read();
      const gateway = process.cpuUsage();
      await page.goto(linkToSession(url, "long"), { waitUntil: "commit" });
      await page.locator(`[data-seq="${entries}"] .markdown:not(.plain)`).waitFor();
      const { user, system } = process.cpuUsage(gateway);
      const after = await meter.read();
      const pageMs = after.cpuMs - before.cpuMs;
      // The first round warms the caches of the browser's code and of the store.
      if (round > 0)
        rounds.push({ pageMs, gatewayMs: (user + system) / 1_000, elements: await meter.countElements() });
    }
  } finally {
    await store.close();
  }
  rounds.sort((one, other) => one.pageMs + one.gatewayMs - other.pageMs - other.gatewayMs);
  return rounds[Math.floor(ROUNDS / 2)] as OpenFigures;
}
