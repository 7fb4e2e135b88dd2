import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { ResourceView } from "../../components/resource-view.tsx";
import { Segments } from "../../components/segments.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { formatCount, formatMoney, formatShare, formatShort } from "../../format/number.ts";
import { shellText } from "../../i18n/shell-text.ts";
import { linkToSpending } from "../../shell/links.ts";
import { overviewText as text } from "./overview-text.ts";

const GROUPINGS = ["agent", "project", "model"] as const;
type Grouping = (typeof GROUPINGS)[number];
type Row = Reply<"GET /usage">["rows"][number];

const SHOWN_ROWS = 8;

/** Money by agent, project or model; each row opens the conversations behind it. */
export function Breakdown({ from }: { readonly from: string | undefined }) {
  const [by, setBy] = useState<Grouping>("agent");
  const [isWhole, setWhole] = useState(false);
  const groups = useResource((signal) => call("GET /usage", { query: { by, from } }, { signal }), [by, from]);
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("where")}</h2>
        <Segments
          label={text("groupBy")}
          value={by}
          options={GROUPINGS.map((value) => ({ value, label: text(value) }))}
          onChange={setBy}
        />
      </div>
      <ResourceView resource={groups}>
        {({ rows, by: shown }) => (
          <>
            {rows.length === 0 ? (
              <p class="dim">{text("noUsage")}</p>
            ) : (
              <Table
                caption={text("where")}
                rows={isWhole ? rows : rows.slice(0, SHOWN_ROWS)}
                columns={buildColumns(shown as Grouping, rows, from)}
                keyOf={({ name }) => name}
              />
            )}
            {rows.length > SHOWN_ROWS && (
              <p class="actions">
                <button type="button" onClick={() => setWhole(!isWhole)}>
                  {isWhole ? text("showFewer") : text("showAll", { count: formatCount(rows.length) })}
                </button>
              </p>
            )}
          </>
        )}
      </ResourceView>
    </section>
  );
}

function buildColumns(by: Grouping, rows: readonly Row[], from: string | undefined): readonly Column<Row>[] {
  const most = Math.max(...rows.map(({ totals }) => totals.cost), 0);
  return [
    {
      name: text(by),
      cell: ({ name, totals }) => (
        <div class="bar-cell">
          <a href={linkToSpending({ [by]: name, from })}>{name === "(unknown)" ? text("unknown") : name}</a>
          <svg class="cost-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="part-1" width={most > 0 ? (100 * totals.cost) / most : 0} height="4" />
          </svg>
        </div>
      ),
    },
    {
      name: text("requestsColumn"),
      isNumber: true,
      isMinor: true,
      cell: ({ totals }) => formatCount(totals.requests),
    },
    {
      name: text("tokensColumn"),
      isNumber: true,
      isMinor: true,
      cell: ({ totals }) =>
        formatShort(
          totals.inputTokens + totals.cacheReadTokens + totals.cacheWriteTokens + totals.outputTokens,
        ),
    },
    {
      name: text("cacheColumn"),
      isNumber: true,
      isMinor: true,
      cell: ({ cacheShare }) => (cacheShare === null ? shellText("noPrompts") : formatShare(cacheShare)),
    },
    {
      name: text("wouldSaveColumn"),
      isNumber: true,
      cell: ({ wouldSave }) =>
        wouldSave === null ? shellText("notReplayed") : formatMoney(Math.max(0, wouldSave)),
    },
    {
      name: text("costColumn"),
      isNumber: true,
      cell: ({ totals }) =>
        totals.requests > totals.unpricedRequests ? formatMoney(totals.cost) : shellText("noPrice"),
    },
  ];
}
