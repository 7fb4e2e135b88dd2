import type { Page, Session } from "../../src/kernel/index.ts";
import { formatCount } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";

/** Time to read a page. */
export interface PageFigures {
  readonly newestMs: number;
  readonly olderMs: number;
  readonly newerMs: number;
}

const OLDER_PAGES = 3;

/** Scrolls up from the newest page, and down again. */
export async function pageThrough(session: Session, tour: Tour): Promise<PageFigures> {
  const { terminal } = tour;
  terminal.heading(
    "2. Page through it",
    "Whoever opens this conversation loads its last 50 messages, not all of them.",
  );
  const newest = await timed(() => session.page());
  terminal.fact("newest page", seqsOf(newest.value), newest.ms);

  let page = newest.value;
  let olderMs = 0;
  let newerMs = 0;
  let steps = 0;
  for (; steps < OLDER_PAGES && page.before !== undefined; steps++) {
    tour.step();
    const { before } = page;
    const older = await timed(() => session.page({ before }));
    terminal.fact("scroll up", seqsOf(older.value), older.ms);
    page = older.value;
    olderMs += older.ms;
  }
  for (let step = 0; step < steps; step++) {
    tour.step();
    const { after } = page;
    const newer = await timed(() => session.page({ after }));
    terminal.fact("scroll down", seqsOf(newer.value), newer.ms);
    page = newer.value;
    newerMs += newer.ms;
  }
  expect(page.entries.at(-1)?.id === newest.value.entries.at(-1)?.id, "scrolling down ends where it began");
  return {
    newestMs: newest.ms,
    olderMs: olderMs / Math.max(steps, 1),
    newerMs: newerMs / Math.max(steps, 1),
  };
}

function seqsOf({ entries }: Page): string {
  const first = entries[0]?.seq ?? 0;
  return `entries ${formatCount(first)} to ${formatCount(entries.at(-1)?.seq ?? first)}`;
}
