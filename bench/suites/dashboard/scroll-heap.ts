import type { ChildPlace } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { linkToSession, type PageFigures, serveStore } from "./served-store.ts";
import { writeTalk } from "./write-talk.ts";

const MEGABYTE = 1_000_000;

/** Scrolling through a conversation from its first entry on. */
export const scrollHeap: Measurement = {
  name: "scrolling through a conversation",
  async *run(bench) {
    const entries = bench.isQuick ? 1_000 : 10_000;
    const { heapBytes, elements, cpuMs } = await bench.child(
      `${entries} entries`,
      import.meta.url,
      measureScrolling,
      entries,
    );
    const through = `${entries.toLocaleString("en")} entries`;
    yield toRow({
      id: "dashboard.scroll.heap",
      value: heapBytes / MEGABYTE,
      unit: `MB at most, scrolling through ${through}`,
      goal: atMost(80, "MB"),
    });
    yield toRow({
      id: "dashboard.scroll.elements",
      value: elements,
      unit: "elements in the document at most",
    });
    yield toRow({ id: "dashboard.scroll.cpu", value: cpuMs / entries, unit: "ms of CPU per entry" });
  },
};

/** Runs in the page: scrolls by a step and returns the highest seq in it. Text, because only the page has a document. */
const SCROLL = `(async () => {
  const scroller = document.querySelector(".talk .virtual");
  scroller.dispatchEvent(new WheelEvent("wheel"));
  scroller.scrollTop += 2400;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
  return Math.max(...[...document.querySelectorAll("[data-seq]")].map((row) => Number(row.dataset.seq)));
})()`;

export async function measureScrolling(
  entries: number,
  { folder }: ChildPlace,
): Promise<PageFigures & { readonly elements: number }> {
  const store = await serveStore(folder, (kernel) => writeTalk(kernel, "long", entries + 200));
  const { page, meter, url } = store;
  let [heapBytes, elements] = [0, 0];
  try {
    await page.goto(`${linkToSession(url, "long")}?entry=1`);
    await page.locator('[data-seq="1"]').waitFor();
    const before = await meter.read();
    for (let seen = 0; seen < entries; ) {
      seen = await page.evaluate<number>(SCROLL);
      const now = await meter.read();
      heapBytes = Math.max(heapBytes, now.heapBytes);
      elements = Math.max(elements, await meter.countElements());
    }
    const after = await meter.read();
    return { heapBytes, elements, cpuMs: after.cpuMs - before.cpuMs };
  } finally {
    await store.close();
  }
}
