import "./health.css";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Segments } from "../../components/segments.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatBytes } from "../../format/number.ts";
import { formatDuration } from "../../format/time.ts";
import { readHealth } from "../../live/health.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { HealthCharts } from "./health-charts.tsx";
import { HealthFigures } from "./health-figures.tsx";
import { healthText as text } from "./health-text.ts";
import { MonitorNotes } from "./monitor-notes.tsx";
import { PointTable } from "./point-table.tsx";
import { PressureBar } from "./pressure-bar.tsx";
import { ServerFacts } from "./server-facts.tsx";
import { useHistory } from "./use-history.ts";

const HOUR_MS = 3_600_000;
const RANGES = { "1h": HOUR_MS, "3h": 3 * HOUR_MS, "24h": 24 * HOUR_MS, all: undefined } as const;
type Range = keyof typeof RANGES;

/** Memory, caches, event loop and disk over time, with limits, warnings and reliefs. */
export default function HealthPage({ query }: PageProps) {
  const asked = query.get("range");
  const range: Range = asked !== null && asked in RANGES ? (asked as Range) : "3h";
  const history = useHistory(RANGES[range]);
  const [isAsking, setAsking] = useState(false);
  const relieve = async () => {
    const { cacheBytesBefore, cacheBytesAfter, journalBytes } = await call("POST /health/relieve", {
      body: {},
    });
    showToast(
      text("relieved", { size: formatBytes(Math.max(0, cacheBytesBefore - cacheBytesAfter) + journalBytes) }),
    );
    history.reload();
    void readHealth();
  };
  return (
    <>
      <div class="section-head">
        <h1>{text("title")}</h1>
        <div class="health-tools">
          <Segments<Range>
            label={text("range")}
            value={range}
            options={[
              { value: "1h", label: formatDuration(RANGES["1h"]) },
              { value: "3h", label: formatDuration(RANGES["3h"]) },
              { value: "24h", label: formatDuration(RANGES["24h"]) },
              { value: "all", label: text("all") },
            ]}
            onChange={(value) => setQuery({ range: value === "3h" ? undefined : value })}
          />
          <button type="button" onClick={() => setAsking(true)}>
            {text("relieve")}
          </button>
        </div>
      </div>
      <ResourceView resource={history}>
        {(found) => {
          const last = found.points.at(-1);
          return (
            <>
              {last ? (
                <>
                  <PressureBar history={found} last={last} />
                  <HealthFigures history={found} last={last} />
                  <HealthCharts history={found} />
                </>
              ) : (
                <EmptyState
                  title={text("noPoints")}
                  hint={text("noPointsHint", { interval: formatDuration(found.intervalMs) })}
                />
              )}
              <MonitorNotes notes={found.notes} />
              {last && <PointTable points={found.points} />}
            </>
          );
        }}
      </ResourceView>
      <ServerFacts />
      {isAsking && (
        <ConfirmDialog
          title={text("relieveTitle")}
          confirmLabel={text("relieve")}
          onConfirm={relieve}
          onClose={() => setAsking(false)}
        >
          <p>{text("relieveHint")}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
