import { useEffect, useRef } from "preact/hooks";
import type UPlot from "uplot";
import { language } from "../i18n/language.ts";
import { isDark } from "../shell/theme.ts";
import type { ChartProps } from "./draw-chart.ts";

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
