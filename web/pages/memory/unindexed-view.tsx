import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Table } from "../../components/table.tsx";
import { formatCount } from "../../format/number.ts";
import { useChanges } from "../../live/use-changes.ts";
import { linkToSession } from "../../shell/links.ts";
import { setQuery } from "../../shell/router.ts";
import { memoryText as text } from "./memory-text.ts";

const PAGE = 200;

/** The conversations with entries that recall does not find yet: the rows behind the share of searchable entries. */
export function UnindexedView({ after }: { readonly after: number }) {
  const missing = useResource(
    (signal) => call("GET /index/unindexed", { query: { after, limit: PAGE } }, { signal }),
    [after],
  );
  useChanges(({ event }) => event === "session" || event === "job", missing.reload);
  return (
    <ResourceView resource={missing}>
      {({ sessions, after: next }) =>
        sessions.length === 0 ? (
          <EmptyState title={text("allIndexed")} hint={text("allIndexedHint")} />
        ) : (
          <>
            <Table
              caption={text("unindexed")}
              rows={sessions}
              keyOf={({ session }) => session}
              columns={[
                {
                  name: text("name"),
                  cell: ({ session }) => (
                    <span class="source-name">
                      <a href={linkToSession(session)}>{session}</a>
                    </span>
                  ),
                },
                { name: text("entryCount"), isNumber: true, cell: ({ entries }) => formatCount(entries) },
                {
                  name: text("indexedTo"),
                  isNumber: true,
                  isMinor: true,
                  cell: ({ indexed }) => (indexed > 0 ? `#${indexed}` : "–"),
                },
                {
                  name: text("unindexedEntries"),
                  isNumber: true,
                  cell: ({ entries, indexed }) => formatCount(entries - indexed),
                },
              ]}
            />
            {next !== null && (
              <p class="actions">
                <button type="button" onClick={() => setQuery({ after: String(next) })}>
                  {text("nextPage")}
                </button>
              </p>
            )}
          </>
        )
      }
    </ResourceView>
  );
}
