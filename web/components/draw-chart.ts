import "uplot/dist/uPlot.min.css";
import UPlot from "uplot";

/** A curve of a chart. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A number from 1 to 8 chooses the color. */
  readonly color: number;
  readonly isFilled?: boolean;
  readonly isDashed?: boolean;
  readonly format: (value: number | null | undefined) => string;
}

export interface ChartProps {
  /** Describes the chart to screen readers, with its main message. */
  readonly label: string;
  /** Ascending; milliseconds if `isTime`, with ticks at hours and days in UTC. */
  readonly x: readonly number[];
  readonly isTime?: boolean;
  /** Name of the axis, in the legend. */
  readonly xLabel?: string;
  readonly formatX?: (value: number) => string;
  /** Short form for the axis; default: `formatX`. */
  readonly formatTick?: (value: number) => string;
  readonly series: readonly ChartSeries[];
  readonly height?: number;
  /** Indexes of points that are marked by a line, such as edits. */
  readonly marks?: readonly number[];
  /** Called with the index under the pointer, or null. */
  readonly onHover?: (index: number | null) => void;
  /** Called with the index that was clicked. */
  readonly onPick?: (index: number) => void;
}

/** Curves with more points than this show no dots. */
const MAX_DOTS = 14;

/** Steps of an axis of positions: 1, 2, 5, 10, 20, 50… */
const WHOLE_STEPS = Array.from({ length: 27 }, (_, index) => [1, 2, 5][index % 3] as number).map(
  (step, index) => step * 10 ** Math.floor(index / 3),
);

interface LatestProps {
  readonly current: ChartProps;
}

/** Draws a chart into an element with the colors of the theme. */
export function drawChart(element: HTMLElement, latest: LatestProps): UPlot {
  const { x, series, isTime = false, formatX = String, formatTick = formatX, height = 180 } = latest.current;
  const isSparse = x.length <= MAX_DOTS;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color("--dim"),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  const [first] = series;
  const options: UPlot.Options = {
    width: Math.max(1, element.clientWidth),
    height,
    ms: 1,
    tzDate: (ms) => UPlot.tzDate(new Date(ms), "Etc/UTC"),
    scales: {
      x: { time: isTime },
      y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: 72,
        // Positions are whole numbers.
        ...(!isTime && { incrs: WHOLE_STEPS }),
        grid: { show: false },
        ...(formatTick && { values: (_, ticks) => ticks.map(formatTick) }),
      },
      { ...axis, size: 64, values: (chart, ticks) => labelTicks(chart, ticks, first?.format ?? String) },
    ],
    series: [
      { label: latest.current.xLabel ?? "", value: (_, value) => (value === null ? "" : formatX(value)) },
      ...series.map((one) => {
        const stroke = color(`--part-${one.color}`);
        return {
          label: one.label,
          stroke,
          width: 1.5,
          points: { show: isSparse, size: 5 },
          ...(one.isFilled && { fill: `${stroke}22` }),
          ...(one.isDashed && { dash: [5, 4] }),
          value: (_: UPlot, value: number | null) =>
            value === null || value === undefined ? "" : one.format(value),
        };
      }),
    ],
    cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    legend: { live: true },
    hooks: {
      draw: [(chart) => drawMarks(chart, latest, color("--warm"))],
      setCursor: [
        (chart) => {
          latest.current.onHover?.(chart.cursor.idx ?? null);
          // Without a pointer, the legend shows the last point.
          if (chart.cursor.idx === null) chart.setLegend({ idx: x.length - 1 }, false);
        },
      ],
    },
  };
  const chart = new UPlot(
    options,
    [x as number[], ...series.map(({ values }) => values as (number | null)[])],
    element,
  );
  chart.setLegend({ idx: x.length - 1 }, false);
  chart.over.addEventListener("click", () => {
    const { idx } = chart.cursor;
    if (idx !== null && idx !== undefined) latest.current.onPick?.(idx);
  });
  return chart;
}

/** Labels of the vertical axis; rounding may give neighbors the same label, and an empty curve has only its zero. */
function labelTicks({ data }: UPlot, ticks: readonly number[], format: (value: number) => string): string[] {
  const isEmpty = data.slice(1).every((values) => [...values].every((value) => !value));
  const labels = ticks.map((tick) => (isEmpty && tick !== 0 ? "" : format(tick)));
  return labels.map((label, index) => (label === labels[index - 1] ? "" : label));
}

/** More marks than this would hide the curves, so they become short. */
const MAX_LONG_MARKS = 12;
const SHORT_MARK = 10;

function drawMarks(chart: UPlot, { current: { x, marks = [] } }: LatestProps, color: string): void {
  if (marks.length === 0) return;
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.globalAlpha = 0.55;
  ctx.beginPath();
  const length = marks.length > MAX_LONG_MARKS ? SHORT_MARK * devicePixelRatio : bbox.height;
  for (const index of marks) {
    const at = Math.round(chart.valToPos(x[index] as number, "x", true)) + 0.5;
    ctx.moveTo(at, bbox.top + bbox.height - length);
    ctx.lineTo(at, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}
