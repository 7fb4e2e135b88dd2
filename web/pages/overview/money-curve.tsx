import { useMemo } from "preact/hooks";
import type { Reply } from "../../api/routes.ts";
import { Chart } from "../../components/chart.tsx";
import { formatMoney } from "../../format/number.ts";
import { formatShortDay, formatUtcDay } from "../../format/time.ts";
import { language } from "../../i18n/language.ts";
import { linkToSpending } from "../../shell/links.ts";
import { navigate } from "../../shell/router.ts";
import { listDays, toDay } from "./days.ts";
import { overviewText as text } from "./overview-text.ts";

/** Money by day: spent, and saved by edits. A click on a day opens its conversations. */
export function MoneyCurve({
  report,
  from,
}: {
  readonly report: Reply<"GET /usage">;
  readonly from: string | undefined;
}) {
  const { rows } = report;
  const chosen = language.value;
  const { days, x, series } = useMemo(() => {
    const known = new Map(rows.map((row) => [row.name, row]));
    const first = from ?? rows[0]?.name ?? toDay(Date.now());
    // Without a first day the curve ends with the last usage, which may be long ago.
    const last = from === undefined ? (rows.at(-1)?.name ?? first) : toDay(Date.now());
    const days = listDays(first, last);
    const spent = days.map((day) => known.get(day)?.totals.cost ?? 0);
    const saved = days.map((day) => known.get(day)?.saved?.savedCost ?? 0);
    const hasSaved = saved.some((value) => value !== 0);
    const without = days.map((_, index) => (spent[index] ?? 0) + (saved[index] ?? 0));
    const savable = days.map((day) => known.get(day)?.wouldSave ?? 0);
    const withIt = days.map((_, index) => Math.max(0, (spent[index] ?? 0) - (savable[index] ?? 0)));
    const hasSavable = savable.some((value) => value > 0);
    return {
      days,
      x: days.map((day) => Date.parse(day)),
      series: [
        { label: text("spent"), values: spent, color: 1, isFilled: true, format: formatMoney },
        ...(hasSaved
          ? [{ label: text("withoutEdits"), values: without, color: 3, isDashed: true, format: formatMoney }]
          : []),
        ...(hasSavable
          ? [{ label: text("withLonghaul"), values: withIt, color: 5, isDashed: true, format: formatMoney }]
          : []),
      ],
    };
  }, [rows, from, chosen]);
  if (rows.length === 0) return null;
  return (
    <section class="card section curve">
      <h2>{text("byDay")}</h2>
      <Chart
        label={text("curveLabel", { spent: formatMoney(report.total.cost), days: String(days.length) })}
        x={x}
        isTime
        xLabel={text("day")}
        formatX={formatUtcDay}
        formatTick={formatShortDay}
        series={series}
        height={200}
        onPick={(index) => navigate(linkToSpending({ from: days[index], to: days[index] }))}
      />
    </section>
  );
}
