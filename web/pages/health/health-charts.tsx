import { useMemo } from "preact/hooks";
import { Chart } from "../../components/chart.tsx";
import type { ChartSeries } from "../../components/draw-chart.ts";
import { formatBytes, formatShare } from "../../format/number.ts";
import { formatClock, formatSeconds, formatTime } from "../../format/time.ts";
import { language } from "../../i18n/language.ts";
import { findGrowth, formatDelay } from "./health-figures.tsx";
import { healthText as text } from "./health-text.ts";
import type { History, MonitorNote, Point } from "./use-history.ts";

const DAY_MS = 86_400_000;
/** Over a shorter time, the axis shows seconds. */
const MINUTES_MS = 20 * 60_000;
const MAX_CACHES = 7;

interface ChartPlan {
  readonly id: string;
  readonly title: string;
  readonly series: readonly ChartSeries[];
}

/** Curves of all measurements; lines mark warnings, growth and reliefs. */
export function HealthCharts({ history }: { readonly history: History }) {
  const { points, notes } = history;
  const chosen = language.value;
  const x = useMemo(() => points.map(({ at }) => at), [points]);
  const marks = useMemo(() => findMarks(x, notes), [x, notes]);
  const plans = useMemo(() => planCharts(history), [points, chosen]);
  const spanMs = (x.at(-1) ?? 0) - (x[0] ?? 0);
  const formatX = spanMs > DAY_MS ? formatTime : spanMs < MINUTES_MS ? formatSeconds : formatClock;
  return (
    <div class="charts">
      {plans.map(({ id, title, series }) => (
        <section key={id} id={id} class="card">
          <h2>{title}</h2>
          {series.every(({ values }) => values.every((value) => value === null)) ? (
            <p class="dim">{text("growthLater")}</p>
          ) : (
            <Chart
              label={describeChart(title, series)}
              x={x}
              isTime
              formatX={formatX}
              xLabel={text("when")}
              series={series}
              marks={marks}
              height={170}
            />
          )}
        </section>
      ))}
    </div>
  );
}

function planCharts(history: History): readonly ChartPlan[] {
  const { points, warningBytes, criticalBytes } = history;
  const curve = (
    label: string,
    color: number,
    read: (point: Point) => number | null,
    format: ChartSeries["format"],
    more: Partial<ChartSeries> = {},
  ): ChartSeries => ({ label, color, values: points.map(read), format, ...more });
  const most = Math.max(...points.map(({ usedBytes, rssBytes }) => Math.max(usedBytes, rssBytes)));
  const limit = (label: string, color: number, bytes: number) =>
    curve(label, color, () => bytes, formatBytes, { isDashed: true });
  const delay = (value: number | null | undefined) => formatDelay(value);
  return [
    {
      id: "memory",
      title: text("memory"),
      series: [
        curve(text("used"), 1, ({ usedBytes }) => usedBytes, formatBytes, { isFilled: true }),
        curve(text("heap"), 2, ({ heapUsedBytes }) => heapUsedBytes, formatBytes),
        curve(text("rss"), 7, ({ rssBytes }) => rssBytes, formatBytes),
        limit(text("warning"), 3, warningBytes),
        // The farther limit would press the curves to the ground while it is far away.
        ...(most > 0.5 * criticalBytes ? [limit(text("critical"), 6, criticalBytes)] : []),
      ],
    },
    { id: "caches", title: text("caches"), series: planCaches(points, curve) },
    {
      id: "event-loop",
      title: text("eventLoop"),
      series: [
        curve(text("mean"), 1, ({ eventLoop }) => eventLoop.meanMs, delay, { isFilled: true }),
        curve(text("longest"), 3, ({ eventLoop }) => eventLoop.maxMs, delay),
      ],
    },
    {
      id: "busy",
      title: text("busyTitle"),
      series: [
        curve(
          text("busyTitle"),
          4,
          ({ eventLoop }) => eventLoop.busy,
          (value) => formatShare(value, 1),
          {
            isFilled: true,
          },
        ),
      ],
    },
    {
      id: "journal",
      title: text("journal"),
      series: [curve(text("journal"), 2, ({ disk }) => disk.journalBytes, formatBytes, { isFilled: true })],
    },
    {
      id: "disk",
      title: text("disk"),
      series: [
        curve(text("database"), 1, ({ disk }) => disk.logBytes, formatBytes, { isFilled: true }),
        curve(text("blobs"), 5, ({ disk }) => disk.blobBytes, formatBytes),
      ],
    },
    {
      id: "growth",
      title: text("growthTitle"),
      series: [curve(text("growth"), 6, (point) => findGrowth(history, point), formatBytes)],
    },
    {
      id: "handles",
      title: text("handles"),
      series: [
        curve(text("files"), 1, ({ files }) => files, formatWhole),
        curve(text("listeners"), 7, ({ listeners }) => listeners, formatWhole),
        curve(text("children"), 3, ({ childProcesses }) => childProcesses, formatWhole),
      ],
    },
  ];
}

type MakeCurve = (
  label: string,
  color: number,
  read: (point: Point) => number | null,
  format: ChartSeries["format"],
  more?: Partial<ChartSeries>,
) => ChartSeries;

/** All caches together, and the largest ones by name. */
function planCaches(points: readonly Point[], curve: MakeCurve): readonly ChartSeries[] {
  const last = points.at(-1)?.caches ?? {};
  const names = Object.entries(last)
    .filter(([, bytes]) => bytes > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_CACHES)
    .map(([name]) => name);
  return [
    curve(text("allCaches"), 1, ({ cacheBytes }) => cacheBytes, formatBytes, { isFilled: true }),
    ...names.map((name, index) => curve(name, index + 2, ({ caches }) => caches[name] ?? 0, formatBytes)),
  ];
}

/** The points nearest to the notes. */
function findMarks(x: readonly number[], notes: readonly MonitorNote[]): readonly number[] {
  const near = notes
    .filter(({ type }) => type !== "normal")
    .map(({ at }) => {
      const after = x.findIndex((one) => one >= at);
      return after < 0 ? x.length - 1 : after;
    });
  return [...new Set(near.filter((index) => index >= 0))];
}

function describeChart(title: string, series: readonly ChartSeries[]): string {
  const last = series.map(({ label, values, format }) => `${label} ${format(values.at(-1))}`);
  return `${title}: ${last.join(", ")}`;
}

function formatWhole(value: number | null | undefined): string {
  return value === null || value === undefined
    ? ""
    : Number.isInteger(value)
      ? String(value)
      : value.toFixed(1);
}
