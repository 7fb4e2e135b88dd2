import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { SessionTable } from "../../components/session-table.tsx";
import { onChange } from "../../live/changes.ts";
import { overviewText as text } from "./overview-text.ts";

const PAGE = 20;
const RELOAD_MS = 1_500;

type Session = Reply<"GET /sessions">["sessions"][number];

/** The conversations, newest first. The list follows changes while it is open. */
export function Conversations() {
  const [title, setTitle] = useState("");
  const [older, setOlder] = useState<readonly Session[]>([]);
  const [next, setNext] = useState<string | undefined>();
  const [hasTasks, setHasTasks] = useState(false);
  const kind = hasTasks ? ["main", "task"] : ["main"];
  const filter = title.trim() ? { title: title.trim() } : {};
  const newest = useResource(
    (signal) => call("GET /sessions", { query: { limit: PAGE, kind, ...filter } }, { signal }),
    [title.trim(), hasTasks],
  );
  useEffect(() => {
    setOlder([]);
    setNext(newest.value?.before);
  }, [newest.value]);
  useEffect(() => reloadOnChange(newest.reload), []);
  const showMore = async () => {
    const page = await call("GET /sessions", {
      query: { limit: PAGE, before: next, kind, ...filter },
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
