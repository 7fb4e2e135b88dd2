import "./overview.css";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";
import { CacheCauses } from "../../cache/cache-causes.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Segments } from "../../components/segments.tsx";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { Breakdown } from "./breakdown.tsx";
import { Conversations } from "./conversations.tsx";
import { findFirstDay, findRangeWithData, RANGES, type Range } from "./days.ts";
import { MoneyCurve } from "./money-curve.tsx";
import { MoneyFigures } from "./money-figures.tsx";
import { overviewText as text } from "./overview-text.ts";
import { ThreatenedHistories } from "./threatened-histories.tsx";
import { Waste } from "./waste.tsx";
import { Welcome } from "./welcome.tsx";

/** The first page: money, then conversations. An empty store shows the sample instead. */
export default function OverviewPage({ query }: PageProps) {
  const chosen = RANGES.find((one) => one === query.get("days"));
  const first = useResource(
    (signal) => call("GET /sessions", { query: { limit: 1, usage: false } }, { signal }),
    [],
  );
  return (
    <ResourceView resource={first}>
      {({ sessions }) =>
        sessions.length === 0 ? <Welcome onImported={first.reload} /> : <Overview chosen={chosen} />
      }
    </ResourceView>
  );
}

/** Estimates that grow are asked for again. */
const ESTIMATE_MS = 3_000;

function Overview({ chosen }: { readonly chosen: Range | undefined }) {
  const all = useResource((signal) => call("GET /usage", { query: { by: "day" } }, { signal }), []);
  const estimate = useResource((signal) => call("GET /usage/estimate", {}, { signal }), []);
  const isRunning = estimate.value?.isRunning === true;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setTimeout(estimate.reload, ESTIMATE_MS);
    return () => clearTimeout(timer);
  }, [estimate.value]);
  // The curve of the estimate is complete once nothing is replayed any more.
  useEffect(() => {
    if (estimate.value && !isRunning) all.reload();
  }, [isRunning]);
  const range = chosen ?? (all.value && findRangeWithData(all.value.rows.map(({ name }) => name)));
  if (!range) return <ResourceView resource={all}>{() => null}</ResourceView>;
  return <RangeOverview key={range} range={range} all={all} estimate={estimate.value} />;
}

function RangeOverview({
  range,
  all,
  estimate,
}: {
  readonly range: Range;
  readonly all: Resource<Reply<"GET /usage">>;
  readonly estimate: Reply<"GET /usage/estimate"> | undefined;
}) {
  const from = findFirstDay(range);
  const some = useResource(
    (signal) =>
      from === undefined
        ? Promise.resolve(undefined)
        : call("GET /usage", { query: { by: "day", from } }, { signal }),
    [from, all.value],
  );
  const days = from === undefined ? all : some;
  return (
    <>
      <div class="section-head">
        <h1>{text("title")}</h1>
        <Segments
          label={text("range")}
          value={range}
          options={RANGES.map((value) => ({
            value,
            label: value === "all" ? text("allTime") : text("lastDays", { count: value }),
          }))}
          onChange={(value) => setQuery({ days: value })}
        />
      </div>
      <ThreatenedHistories />
      <ResourceView resource={days}>
        {(report) =>
          report && (
            <>
              <MoneyFigures report={report} from={from} estimate={estimate} />
              <MoneyCurve report={report} from={from} />
            </>
          )
        }
      </ResourceView>
      <Waste from={from} isReady={estimate !== undefined && !estimate.isRunning} />
      <Breakdown from={from} />
      <CacheCauses from={from} />
      <Conversations />
    </>
  );
}
