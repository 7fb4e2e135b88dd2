import { useEffect, useRef } from "preact/hooks";
import type UPlot from "uplot";
import { language } from "../i18n/language.ts";
import { isDark } from "../shell/theme.ts";

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

/** A chart of curves over time or position; the library is loaded with the first one. */
export function Chart(props: ChartProps) {
  const { label, x, series, height = 180, marks } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const dark = isDark();
  const chosen = language.value;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let chart: UPlot | undefined;
    let isGone = false;
    const resize = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }));
    void import("./draw-chart.ts").then(({ drawChart }) => {
      if (isGone) return;
      chart = drawChart(element, latest);
      resize.observe(element);
    });
    return () => {
      isGone = true;
      resize.disconnect();
      chart?.destroy();
    };
  }, [x, series, marks, height, dark, chosen]);
  return <div ref={place} class="chart" role="img" aria-label={label} style={{ minHeight: `${height}px` }} />;
}
