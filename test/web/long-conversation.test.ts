import { expect } from "vitest";
import { browserProof, openPage } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { linkTo, writeLongTalk } from "./support/long-talk.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;
const ENTRIES = 10_000;
const MAX_ELEMENTS = 3_000;
/** Two screens, as a reader scrolls. */
const STEP_PIXELS = 1_600;
/** Asking the browser for its number of elements takes longer than a step. */
const MEASURED_STEPS = 10;

browserProof(
  `scrolling through ${ENTRIES} entries, and back, keeps the number of elements bounded`,
  async () => {
    const gateway = await startGateway(QUIET);
    await using session = await writeLongTalk(gateway.kernel, { entries: ENTRIES + 100 });
    const { page, problems } = await openPage(`${linkTo(gateway.url, session.id)}?entry=1`);
    await page.locator('[data-seq="1"]').waitFor();
    let [elements, steps] = [0, 0];
    const measure = async () => {
      if (steps++ % MEASURED_STEPS !== 0) return;
      elements = Math.max(elements, await page.evaluate(() => document.querySelectorAll("*").length));
    };
    /** Scrolls by a step and returns the rows in the page, in their order, those in view marked. */
    const scroll = (pixels: number) =>
      page.evaluate(async (step) => {
        const scroller = document.querySelector(".talk .virtual") as HTMLElement;
        scroller.dispatchEvent(new WheelEvent("wheel"));
        scroller.scrollTop += step;
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
        const rows = [...document.querySelectorAll<HTMLElement>(".talk [data-seq]")];
        const end = scroller.getBoundingClientRect().bottom;
        return rows
          .map((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return { seq: Number(row.dataset.seq), top, bottom, isInView: top < end };
          })
          .sort((one, other) => one.top - other.top);
      }, pixels);
    let last = 0;
    while (last < ENTRIES) {
      const rows = await scroll(STEP_PIXELS);
      const seqs = rows.map(({ seq }) => seq);
      // A row has its whole height as soon as it shows, so it never lies on the next one.
      const seen = rows.filter(({ isInView }) => isInView);
      expect(seen.filter(({ top }, index) => top < (seen[index - 1]?.bottom ?? top) - 1)).toEqual([]);
      // Rows are in the order of the log without a gap, whatever pages came and left.
      expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index));
      // The page never jumps back.
      expect(seqs.at(-1)).toBeGreaterThanOrEqual(last);
      last = seqs.at(-1) ?? 0;
      await measure();
    }
    let first = last;
    while (first > ENTRIES - 1_000) {
      const seq = (await scroll(-STEP_PIXELS))[0]?.seq ?? 0;
      expect(seq).toBeLessThanOrEqual(first);
      first = seq;
      await measure();
    }
    expect(elements).toBeLessThan(MAX_ELEMENTS);
    expect(problems).toEqual([]);
  },
);
