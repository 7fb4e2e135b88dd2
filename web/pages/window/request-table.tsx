import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ResourceView } from "../../components/resource-view.tsx";
import { Table } from "../../components/table.tsx";
import { formatCount, formatMoney, formatShare } from "../../format/number.ts";
import { formatTime } from "../../format/time.ts";
import { setQuery } from "../../shell/router.ts";
import { windowText as text } from "./window-text.ts";

const PAGE = 500;

/** The address of the requests behind the sums of a conversation. */
export const REQUESTS_LINK = "?requests=0#requests";

interface RequestTableProps {
  readonly session: string;
  /** Only requests after this seq. */
  readonly after: number;
}

/** The reported requests of a conversation, oldest first: the rows behind its sums. */
export function RequestTable({ session, after }: RequestTableProps) {
  const list = useResource(
    (signal) =>
      call(
        "GET /sessions/{session}/usage",
        { params: { session }, query: { after, limit: PAGE } },
        { signal },
      ),
    [session, after],
  );
  return (
    <section class="section" id="requests">
      <div class="section-head">
        <h2>{text("requestList")}</h2>
        <button type="button" onClick={() => setQuery({ requests: undefined })}>
          {text("hideRequests")}
        </button>
      </div>
      <ResourceView resource={list}>
        {({ requests, after: next }) => (
          <>
            <Table
              caption={text("requestList")}
              rows={requests}
              keyOf={({ seq }) => String(seq)}
              columns={[
                { name: text("when"), cell: ({ at }) => <span class="number">{formatTime(at)}</span> },
                { name: text("model"), isMinor: true, cell: ({ model }) => model ?? "–" },
                { name: text("sent"), isNumber: true, cell: ({ promptTokens }) => formatCount(promptTokens) },
                {
                  name: text("cacheShare"),
                  isNumber: true,
                  cell: ({ cacheShare }) => formatShare(cacheShare),
                },
                {
                  name: text("received"),
                  isNumber: true,
                  isMinor: true,
                  cell: ({ totals }) => formatCount(totals.outputTokens),
                },
                {
                  name: text("retries"),
                  isNumber: true,
                  isMinor: true,
                  cell: ({ retries }) => formatCount(retries),
                },
                {
                  name: text("cost"),
                  isNumber: true,
                  cell: ({ totals }) => formatMoney(totals.unpricedRequests > 0 ? undefined : totals.cost, 4),
                },
              ]}
            />
            {next !== null && (
              <p class="actions">
                <button type="button" onClick={() => setQuery({ requests: String(next) })}>
                  {text("nextRequests")}
                </button>
              </p>
            )}
          </>
        )}
      </ResourceView>
    </section>
  );
}
