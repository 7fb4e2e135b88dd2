import { call } from "../api/client.ts";
import type { Reply } from "../api/routes.ts";
import { useResource } from "../api/use-resource.ts";
import { ResourceView } from "../components/resource-view.tsx";
import { Table } from "../components/table.tsx";
import { formatCount, formatMoney, formatShare, formatShort } from "../format/number.ts";
import { cacheText as text } from "./cache-text.ts";

type Report = Reply<"GET /usage/cache">;

/** Dollars for missed caches by cause, and savings by size of conversation, from a day on. */
export function CacheCauses({ from }: { readonly from: string | undefined }) {
  const since = from === undefined ? 0 : Date.parse(from);
  const report = useResource((signal) => call("GET /usage/cache", { query: { since } }, { signal }), [since]);
  return (
    <section class="section" id="cache">
      <div class="section-head">
        <h2>{text("title")}</h2>
      </div>
      <ResourceView resource={report}>
        {(one) => (
          <>
            <p class="dim">
              {text("missed", {
                misses: formatMoney(one.parts.misses),
                dollars: formatMoney(one.dollars),
              })}
            </p>
            <CauseTable report={one} />
            <SizeTable report={one} />
          </>
        )}
      </ResourceView>
    </section>
  );
}

/** The causes of misses, the dearest first. */
export function CauseTable({ report: { causes, ledger } }: { readonly report: Report }) {
  if (causes.length === 0) return <p class="dim">{text("none")}</p>;
  return (
    <>
      <Table
        caption={text("title")}
        rows={causes}
        keyOf={({ cause }) => cause}
        columns={[
          {
            name: text("cause"),
            cell: ({ cause, detail }) => <span title={detail}>{text(`cause-${cause}`)}</span>,
          },
          { name: text("owner"), cell: ({ owner }) => text(owner) },
          { name: text("misses"), isNumber: true, cell: ({ requests }) => formatCount(requests) },
          { name: text("tokens"), isNumber: true, isMinor: true, cell: ({ tokens }) => formatShort(tokens) },
          { name: text("dollars"), isNumber: true, cell: ({ dollars }) => formatMoney(dollars) },
          { name: text("remedy"), isMinor: true, cell: ({ remedy }) => remedy ?? "–" },
        ]}
      />
      {ledger.map(({ action, debit, credit }) => (
        <p key={action} class="dim">
          {text("ledger", { action, debit: formatMoney(debit), credit: formatMoney(credit) })}
        </p>
      ))}
    </>
  );
}

function SizeTable({ report: { sizes } }: { readonly report: Report }) {
  const shown = sizes.filter(({ savings }) => savings.withoutCost > 0);
  if (shown.length === 0) return null;
  return (
    <Table
      caption={text("sizes")}
      rows={shown}
      keyOf={({ name }) => name}
      columns={[
        { name: text("size"), cell: ({ name }) => name },
        {
          name: text("conversations"),
          isNumber: true,
          cell: ({ conversations }) => formatCount(conversations),
        },
        { name: text("without"), isNumber: true, cell: ({ savings }) => formatMoney(savings.withoutCost) },
        {
          name: text("ratio"),
          isNumber: true,
          cell: ({ savings: { withoutCost, savedCost } }) =>
            formatShare((withoutCost - savedCost) / withoutCost, 1),
        },
      ]}
    />
  );
}
