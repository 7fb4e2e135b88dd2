import { useState } from "preact/hooks";
import { Table } from "../../components/table.tsx";
import { formatBytes, formatShare } from "../../format/number.ts";
import { formatTime } from "../../format/time.ts";
import { formatDelay } from "./health-figures.tsx";
import { healthText as text } from "./health-text.ts";
import type { Point } from "./use-history.ts";

const MAX_ROWS = 500;

/** The measurements behind the curves, newest first, once they are asked for. */
export function PointTable({ points }: { readonly points: readonly Point[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="section" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text("asTable", { count: Math.min(points.length, MAX_ROWS) })}</summary>
      {isOpen && (
        <Table
          caption={text("title")}
          rows={points.slice(-MAX_ROWS).toReversed()}
          keyOf={({ at }) => String(at)}
          columns={[
            { name: text("when"), cell: ({ at }) => <span class="number">{formatTime(at)}</span> },
            { name: text("used"), isNumber: true, cell: ({ usedBytes }) => formatBytes(usedBytes) },
            { name: text("heap"), isNumber: true, cell: ({ heapUsedBytes }) => formatBytes(heapUsedBytes) },
            { name: text("rss"), isNumber: true, cell: ({ rssBytes }) => formatBytes(rssBytes) },
            { name: text("caches"), isNumber: true, cell: ({ cacheBytes }) => formatBytes(cacheBytes) },
            {
              name: text("eventLoop"),
              isNumber: true,
              isMinor: true,
              cell: ({ eventLoop }) => formatDelay(eventLoop.meanMs),
            },
            {
              name: text("busyTitle"),
              isNumber: true,
              isMinor: true,
              cell: ({ eventLoop }) => formatShare(eventLoop.busy, 1),
            },
            {
              name: text("journal"),
              isNumber: true,
              isMinor: true,
              cell: ({ disk }) => formatBytes(disk.journalBytes),
            },
          ]}
        />
      )}
    </details>
  );
}
