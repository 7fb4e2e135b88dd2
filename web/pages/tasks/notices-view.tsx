import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { useChanges } from "../../live/use-changes.ts";
import { NoticeCard } from "./notice-card.tsx";
import { tasksText as text } from "./tasks-text.ts";

const PAGE = 50;
const MAX_PAGE = 200;

/** Messages about tasks that have ended, newest tasks first. */
export function NoticesView() {
  const [limit, setLimit] = useState(PAGE);
  const notices = useResource((signal) => call("GET /notices", { query: { limit } }, { signal }), [limit]);
  useChanges(({ event }) => event === "task", notices.reload);
  return (
    <ResourceView resource={notices}>
      {({ notices: rows, before }) =>
        rows.length === 0 ? (
          <EmptyState title={text("noNotices")} hint={text("noNoticesHint")} />
        ) : (
          <>
            <ol class="notices">
              {rows.map((notice) => (
                <li key={notice.id}>
                  <NoticeCard notice={notice} hasLink />
                </li>
              ))}
            </ol>
            {before !== undefined && limit < MAX_PAGE && (
              <p class="actions">
                <button type="button" onClick={() => setLimit(MAX_PAGE)}>
                  {text("more")}
                </button>
              </p>
            )}
          </>
        )
      }
    </ResourceView>
  );
}
