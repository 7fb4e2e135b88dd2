import "./spending.css";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { saveCsv } from "../../components/save-csv.ts";
import { SavedViews } from "../../components/saved-views.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { formatCount, formatMoney, formatShare, formatShort } from "../../format/number.ts";
import { formatUtcDay } from "../../format/time.ts";
import { toPlainTitle } from "../../format/title.ts";
import { shellText } from "../../i18n/shell-text.ts";
import { linkToSession, linkToWindow } from "../../shell/links.ts";
import type { PageProps } from "../../shell/page-route.ts";
import { setQuery } from "../../shell/router.ts";
import { spendingText as text } from "./spending-text.ts";

type Row = Reply<"GET /usage">["rows"][number];

const FILTERS = ["agent", "project", "model"] as const;
const DAYS = ["from", "to"] as const;

/** A day of the address, which anybody may have written; undefined if there is no such day. */
function toDay(text: string): string | undefined {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text ? text : undefined;
}

/** The conversations behind a sum of the overview: their sums add up to it. */
export default function SpendingPage({ query }: PageProps) {
  const values = Object.fromEntries([
    ...FILTERS.map((name) => [name, query.get(name) ?? undefined]),
    ...DAYS.map((name) => [name, toDay(query.get(name) ?? "")]),
  ]);
  const key = JSON.stringify(values);
  const report = useResource(
    (signal) => call("GET /usage", { query: { by: "session", ...values } }, { signal }),
    [key],
  );
  const named = FILTERS.flatMap((name) => (values[name] ? [`${text(name)} ${values[name]}`] : []));
  const save = () =>
    saveCsv("spending.csv", [
      [
        "conversation",
        "title",
        "requests",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cost_usd",
        "saved_usd",
        "would_save_usd",
      ],
      ...(report.value?.rows ?? []).map(({ name, title, totals, saved, wouldSave }) => [
        ...[
          name,
          title,
          totals.requests,
          totals.inputTokens + totals.cacheReadTokens + totals.cacheWriteTokens,
        ],
        ...[totals.outputTokens, totals.cacheReadTokens, totals.cost, saved?.savedCost, wouldSave],
      ]),
    ]);
  return (
    <>
      <p class="dim">
        <a href="/">{text("back")}</a>
      </p>
      <h1>{[text("title"), ...named].join(" · ")}</h1>
      <p class="dim">{describeDays(values.from, values.to)}</p>
      <div class="spending-filters">
        {FILTERS.map((name) => (
          <FilterSelect key={name} name={name} value={values[name]} />
        ))}
        {DAYS.map((name) => (
          <label key={name}>
            {text(name)}
            <input
              type="date"
              value={values[name] ?? ""}
              onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <button type="button" onClick={save} disabled={!report.value?.rows.length}>
          {shellText("saveCsv")}
        </button>
      </div>
      <SavedViews path="/spending" />
      <ResourceView resource={report}>
        {({ rows, total, cacheShare }) =>
          rows.length === 0 ? (
            <EmptyState title={text("nothing")} hint={text("nothingHint")} />
          ) : (
            <div class="section">
              <Table
                caption={text("title")}
                rows={rows}
                columns={buildColumns()}
                keyOf={({ name }) => name}
              />
              <p class="total number">
                {text("sum", {
                  cost: formatMoney(total.cost),
                  requests: formatCount(total.requests),
                  share: formatShare(cacheShare, 1),
                })}
                {total.unpricedRequests > 0 &&
                  ` · ${text("unpriced", { count: formatCount(total.unpricedRequests) })}`}
              </p>
            </div>
          )
        }
      </ResourceView>
    </>
  );
}

/** A filter with the values that occur. */
function FilterSelect({
  name,
  value,
}: {
  readonly name: (typeof FILTERS)[number];
  readonly value: string | undefined;
}) {
  const known = useResource((signal) => call("GET /usage", { query: { by: name } }, { signal }), [name]);
  const names = known.value?.rows.map((row) => row.name) ?? [];
  const all = value !== undefined && !names.includes(value) ? [value, ...names] : names;
  return (
    <label>
      {text(name)}
      <select value={value ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{text("any")}</option>
        {all.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function describeDays(from: string | undefined, to: string | undefined): string {
  const show = (day: string) => formatUtcDay(Date.parse(day));
  if (from && from === to) return show(from);
  if (from && to) return text("between", { from: show(from), to: show(to) });
  if (to) return text("until", { to: show(to) });
  return from ? text("since", { from: show(from) }) : text("always");
}

function buildColumns(): readonly Column<Row>[] {
  return [
    {
      name: text("conversation"),
      cell: ({ name, title }) => <a href={linkToSession(name)}>{toPlainTitle(title || name)}</a>,
    },
    {
      name: text("requests"),
      isNumber: true,
      isMinor: true,
      cell: ({ name, totals }) => <a href={linkToWindow(name)}>{formatCount(totals.requests)}</a>,
    },
    {
      name: text("input"),
      isNumber: true,
      isMinor: true,
      cell: ({ totals }) =>
        formatShort(totals.inputTokens + totals.cacheReadTokens + totals.cacheWriteTokens),
    },
    {
      name: text("output"),
      isNumber: true,
      isMinor: true,
      cell: ({ totals }) => formatShort(totals.outputTokens),
    },
    {
      name: text("cache"),
      isNumber: true,
      isMinor: true,
      cell: ({ cacheShare }) => (cacheShare === null ? shellText("noPrompts") : formatShare(cacheShare)),
    },
    {
      name: text("saved"),
      isNumber: true,
      isMinor: true,
      cell: ({ saved }) => {
        if (saved === null) return shellText("notByModel");
        return saved.withoutCost > 0 ? formatMoney(saved.savedCost) : shellText("notEdited");
      },
    },
    {
      name: text("wouldSave"),
      isNumber: true,
      cell: ({ wouldSave }) =>
        wouldSave === null ? shellText("notReplayed") : formatMoney(Math.max(0, wouldSave)),
    },
    {
      name: text("cost"),
      isNumber: true,
      cell: ({ totals }) =>
        totals.requests > totals.unpricedRequests ? formatMoney(totals.cost) : shellText("noPrice"),
    },
  ];
}
