import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { saveCsv } from "../../components/save-csv.ts";
import { SessionTable } from "../../components/session-table.tsx";
import { shellText } from "../../i18n/shell-text.ts";
import { onChange } from "../../live/changes.ts";
import { overviewText as text } from "./overview-text.ts";

const PAGE = 20;
const RELOAD_MS = 1_500;

type Session = Reply<"GET /sessions">["sessions"][number];

/** The conversations, last used first. The list follows changes while it is open. */
export function Conversations() {
  const [title, setTitle] = useState("");
  const [older, setOlder] = useState<readonly Session[]>([]);
  const [next, setNext] = useState<string | undefined>();
  const [hasTasks, setHasTasks] = useState(false);
  const kind = hasTasks ? ["main", "task"] : ["main"];
  const filter = title.trim() ? { title: title.trim() } : {};
  const newest = useResource(
    (signal) => call("GET /sessions", { query: { limit: PAGE, kind, sort: "used", ...filter } }, { signal }),
    [title.trim(), hasTasks],
  );
  useEffect(() => {
    setOlder([]);
    setNext(newest.value?.before);
  }, [newest.value]);
  useEffect(() => reloadOnChange(newest.reload), []);
  const showMore = async () => {
    const page = await call("GET /sessions", {
      query: { limit: PAGE, before: next, kind, sort: "used", ...filter },
    });
    setOlder([...older, ...page.sessions]);
    setNext(page.before);
  };
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("conversations")}</h2>
        <input
          class="filter"
          type="search"
          aria-label={text("filterTitles")}
          placeholder={text("filterTitles")}
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        <button type="button" onClick={() => void saveAll(kind, filter)}>
          {shellText("saveCsv")}
        </button>
        <label class="dim" title={text("taskSessionsHint")}>
          <input
            type="checkbox"
            checked={hasTasks}
            onChange={(event) => setHasTasks(event.currentTarget.checked)}
          />{" "}
          {text("taskSessions")}
        </label>
      </div>
      <ResourceView resource={newest}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <EmptyState title={text("noMatch")} hint={text("noMatchHint")} />
          ) : (
            <SessionTable caption={text("conversations")} sessions={[...sessions, ...older]} />
          )
        }
      </ResourceView>
      {next !== undefined && (
        <p class="actions">
          <button type="button" onClick={showMore}>
            {text("showOlder")}
          </button>
        </p>
      )}
    </section>
  );
}

const CSV_PAGE = 200;

/** Saves all conversations that match as CSV. */
async function saveAll(kind: string[], filter: { readonly title?: string }): Promise<void> {
  const rows: (string | number | undefined)[][] = [];
  let before: string | undefined;
  do {
    const page = await call("GET /sessions", {
      query: { limit: CSV_PAGE, kind, sort: "used", before, ...filter },
    });
    for (const {
      id,
      title,
      agent,
      project,
      model,
      createdAt,
      usedAt,
      usage,
      saved,
      wouldSave,
    } of page.sessions)
      rows.push([
        ...[
          id,
          title,
          agent,
          project,
          model,
          new Date(usedAt ?? createdAt).toISOString(),
          usage?.requests,
          usage?.cost,
        ],
        ...[saved?.savedCost, wouldSave],
      ]);
    before = page.before;
  } while (before !== undefined);
  saveCsv("conversations.csv", [
    [
      "id",
      "title",
      "agent",
      "project",
      "model",
      "last_used",
      "requests",
      "cost_usd",
      "saved_usd",
      "would_save_usd",
    ],
    ...rows,
  ]);
}

/** Reloads after changes, at most once in a while: an agent may append many entries a second. */
function reloadOnChange(reload: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = onChange(({ event }) => {
    if (event === "job" || event === "task") return;
    timer ??= setTimeout(() => {
      timer = undefined;
      reload();
    }, RELOAD_MS);
  });
  return () => {
    end();
    clearTimeout(timer);
  };
}
