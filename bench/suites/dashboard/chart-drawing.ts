import type { ChildPlace } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { linkToSession, serveStore } from "./served-store.ts";
import { writeEditedTalk } from "./write-talk.ts";

interface ChartSize {
  readonly entries: number;
  readonly edits: number;
}

interface ChartFigures {
  readonly openMs: number;
  readonly drawMs: number;
}

/** The chart of a long conversation with many edits. */
export const chartDrawing: Measurement = {
  name: "drawing the chart of a window",
  async *run(bench) {
    const size = bench.isQuick ? { entries: 3_000, edits: 300 } : { entries: 30_000, edits: 3_000 };
    const { openMs, drawMs } = await bench.child(
      `${size.entries} entries`,
      import.meta.url,
      measureChart,
      size,
    );
    const unit = `ms of CPU, ${size.entries.toLocaleString("en")} entries, ${size.edits.toLocaleString("en")} edits`;
    yield toRow({
      id: "dashboard.chart",
      value: drawMs,
      unit: `${unit}: draw the chart`,
      goal: atMost(100, "ms"),
    });
    yield toRow({ id: "dashboard.chart.page", value: openMs, unit: `${unit}: open the page with it` });
  },
};

const ROUNDS = 5;

export async function measureChart(size: ChartSize, { folder }: ChildPlace): Promise<ChartFigures> {
  const store = await serveStore(folder, (kernel) => writeEditedTalk(kernel, "edited", size));
  const { page, meter, url } = store;
  try {
    const opened = await measureMedian(async () => {
      await page.goto(`${url}/healthz`);
      const { cpuMs } = await meter.read();
      await page.goto(`${linkToSession(url, "edited")}/window`, { waitUntil: "commit" });
      await page.locator(".chart canvas").waitFor();
      return (await meter.read()).cpuMs - cpuMs;
    });
    // Another theme draws the whole chart again, with its data from the same lists; the page around it changes colors.
    let isDark = false;
    const drawn = await measureMedian(async () => {
      isDark = !isDark;
      await page.evaluate('document.querySelector(".chart canvas")?.setAttribute("data-old", "")');
      const { cpuMs } = await meter.read();
      await page.emulateMedia({ colorScheme: isDark ? "dark" : "light" });
      await page.locator(".chart canvas:not([data-old])").waitFor();
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))");
      return (await meter.read()).cpuMs - cpuMs;
    });
    return { openMs: opened, drawMs: drawn };
  } finally {
    await store.close();
  }
}

async function measureMedian(measure: () => Promise<number>): Promise<number> {
  await measure();
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round++) values.push(await measure());
  return values.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] as number;
}
