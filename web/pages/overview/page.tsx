import "./overview.css";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { CacheCauses } from "../../cache/cache-causes.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Segments } from "../../components/segments.tsx";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { Breakdown } from "./breakdown.tsx";
import { Conversations } from "./conversations.tsx";
import { findFirstDay, RANGES, type Range } from "./days.ts";
import { MoneyCurve } from "./money-curve.tsx";
import { MoneyFigures } from "./money-figures.tsx";
import { overviewText as text } from "./overview-text.ts";
import { ThreatenedHistories } from "./threatened-histories.tsx";
import { Welcome } from "./welcome.tsx";

/** The first page: money, then conversations. An empty store shows the sample instead. */
export default function OverviewPage({ query }: PageProps) {
  const range = RANGES.find((one) => one === query.get("days")) ?? "30";
  const first = useResource(
    (signal) => call("GET /sessions", { query: { limit: 1, usage: false } }, { signal }),
    [],
  );
  return (
    <ResourceView resource={first}>
      {({ sessions }) =>
        sessions.length === 0 ? <Welcome onImported={first.reload} /> : <Overview range={range} />
      }
    </ResourceView>
  );
}

function Overview({ range }: { readonly range: Range }) {
  const from = findFirstDay(range);
  const days = useResource(
    (signal) => call("GET /usage", { query: { by: "day", from } }, { signal }),
    [from],
  );
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
          onChange={(value) => setQuery({ days: value === "30" ? undefined : value })}
        />
      </div>
      <ThreatenedHistories />
      <ResourceView resource={days}>
        {(report) => (
          <>
            <MoneyFigures report={report} from={from} />
            <MoneyCurve report={report} from={from} />
          </>
        )}
      </ResourceView>
      <Breakdown from={from} />
      <CacheCauses />
      <Conversations />
    </>
  );
}
