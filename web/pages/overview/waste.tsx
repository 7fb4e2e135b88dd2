import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { Table } from "../../components/table.tsx";
import { formatMoney } from "../../format/number.ts";
import { toPlainTitle } from "../../format/title.ts";
import { linkToSession } from "../../shell/links.ts";
import { overviewText as text } from "./overview-text.ts";

type Row = Reply<"GET /usage">["rows"][number];

const SHOWN_ROWS = 5;

/** The conversations on which most could have been saved; nothing while they are replayed, or if there are none. */
export function Waste({ from, isReady }: { readonly from: string | undefined; readonly isReady: boolean }) {
  const report = useResource(
    (signal) => call("GET /usage", { query: { by: "session", from } }, { signal }),
    [from, isReady],
  );
  const wasteOf = ({ wouldSave }: Row) => wouldSave ?? 0;
  const rows = (report.value?.rows ?? [])
    .filter((row) => wasteOf(row) >= 0.01)
    .sort((one, other) => wasteOf(other) - wasteOf(one))
    .slice(0, SHOWN_ROWS);
  if (rows.length === 0) return null;
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("waste")}</h2>
        <p class="dim">{text("wasteHint")}</p>
      </div>
      <Table
        caption={text("waste")}
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          {
            name: text("conversations"),
            cell: ({ name, title }) => <a href={linkToSession(name)}>{toPlainTitle(title || name)}</a>,
          },
          { name: text("costColumn"), isNumber: true, cell: ({ totals }) => formatMoney(totals.cost) },
          { name: text("wouldSaveColumn"), isNumber: true, cell: (row) => formatMoney(wasteOf(row)) },
        ]}
      />
    </section>
  );
}
