import type { ChildPlace } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { serveStore } from "./served-store.ts";
import { writeEditedTalk } from "./write-talk.ts";

/** The overview of a gateway that has just started, whose sums are not known yet. */
export const firstOverview: Measurement = {
  name: "opening the overview for the first time",
  async *run(bench) {
    const conversations = bench.isQuick ? 10 : 100;
    const label = `${conversations} conversations`;
    const { cpuMs, wallMs } = await bench.child(label, import.meta.url, measureOverview, conversations);
    const unit = `${label} of 300 entries, until their list shows`;
    yield toRow({
      id: "dashboard.overview",
      value: cpuMs,
      unit: `ms of CPU, page and gateway, ${unit}`,
      goal: atMost(1_500, "ms"),
    });
    yield toRow({ id: "dashboard.overview.wait", value: wallMs, unit: `ms of waiting, ${unit}` });
  },
};

export async function measureOverview(
  conversations: number,
  { folder }: ChildPlace,
): Promise<{ readonly cpuMs: number; readonly wallMs: number }> {
  const store = await serveStore(folder, async (kernel) => {
    for (let number = 1; number <= conversations; number++)
      await writeEditedTalk(kernel, `talk-${number}`, { entries: 300, edits: 3 });
  });
  const { page, meter, url } = store;
  try {
    const before = await meter.read();
    const gateway = process.cpuUsage();
    const start = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.locator('a[href*="talk-"]').first().waitFor();
    const wallMs = performance.now() - start;
    const { user, system } = process.cpuUsage(gateway);
    const after = await meter.read();
    return { cpuMs: after.cpuMs - before.cpuMs + (user + system) / 1_000, wallMs };
  } finally {
    await store.close();
  }
}
