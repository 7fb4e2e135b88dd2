import { Figure } from "../../components/figure.tsx";
import { formatBytes, formatShare } from "../../format/number.ts";
import { formatDuration } from "../../format/time.ts";
import { healthText as text } from "./health-text.ts";
import type { History, Point } from "./use-history.ts";

/** The last measurement; each number leads to its curve. */
export function HealthFigures({ history, last }: { readonly history: History; readonly last: Point }) {
  const { heapUsedBytes, rssBytes, cacheBytes, eventLoop, disk } = last;
  const caches = Object.keys(last.caches).length;
  const growth = findGrowth(history, last);
  const sign = growth !== null && growth > 0 ? "+" : "";
  return (
    <div class="figures health-figures">
      <Figure
        label={text("heap")}
        value={formatBytes(heapUsedBytes)}
        note={text("ofLimit", { share: formatShare(heapUsedBytes / history.heapLimitBytes, 1) })}
        href="#memory"
      />
      <Figure label={text("rss")} value={formatBytes(rssBytes)} href="#memory" />
      <Figure
        label={text("caches")}
        value={formatBytes(cacheBytes)}
        {...(caches > 0 && { note: text("cacheCount", { count: caches }) })}
        href="#caches"
      />
      <Figure
        label={text("eventLoop")}
        value={formatDelay(eventLoop.meanMs)}
        note={text("busy", { share: formatShare(eventLoop.busy, 1), most: formatDelay(eventLoop.maxMs) })}
        href="#event-loop"
      />
      <Figure label={text("journal")} value={formatBytes(disk.journalBytes)} href="#journal" />
      <Figure
        label={text("disk")}
        value={formatBytes(disk.logBytes + disk.blobBytes)}
        note={text("diskParts", { log: formatBytes(disk.logBytes), blobs: formatBytes(disk.blobBytes) })}
        href="#disk"
      />
      <Figure
        label={text("growth")}
        value={sign + formatBytes(growth)}
        note={text(growth === null ? "growthLater" : "perHour")}
        href="#growth"
      />
    </div>
  );
}

/** A slope over less than this is chance. */
const MIN_GROWTH_MS = 600_000;

/** The growth at a point; null while the points before it span too short a time. */
export function findGrowth({ points }: History, { at, growthPerHour }: Point): number | null {
  return at - (points[0]?.at ?? at) >= MIN_GROWTH_MS ? growthPerHour : null;
}

/** Delays of the event loop are mostly below a few milliseconds. */
export function formatDelay(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || ms >= 10) return formatDuration(ms);
  return `${(Math.round(ms * 10) / 10).toFixed(1)} ms`;
}
