import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { Segments } from "../../components/segments.tsx";
import { Table } from "../../components/table.tsx";
import { formatAgo, formatDuration, formatTime } from "../../format/time.ts";
import { useChanges } from "../../live/use-changes.ts";
import { useNow } from "../../live/use-now.ts";
import { linkToSession } from "../../shell/links.ts";
import { setQuery } from "../../shell/router.ts";
import { ENDED_STATES, isLive, LIVE_STATES, STATES, type State, StatePill } from "./state-pill.tsx";
import { linkToTask, linkToTasks } from "./task-links.ts";
import { tasksText as text } from "./tasks-text.ts";

type Task = Reply<"GET /tasks">["tasks"][number];

const PAGE = 50;
const MAX_PAGE = 200;
const GROUPS = { live: LIVE_STATES, ended: ENDED_STATES } as const;

/** The newest tasks, which change before the reader's eyes. `?state=` names a state, or "live" or "ended". */
export function TaskList({ query }: { readonly query: URLSearchParams }) {
  const asked = query.get("state");
  const group = asked === "live" || asked === "ended" ? asked : undefined;
  const state = STATES.find((one) => one === asked);
  const before = query.get("before") ?? undefined;
  const [queue, person] = [query.get("queue") ?? undefined, query.get("person") ?? undefined];
  const [limit, setLimit] = useState(PAGE);
  const states = group ? GROUPS[group] : state && [state];
  const tasks = useResource(
    (signal) =>
      call(
        "GET /tasks",
        {
          query: {
            limit,
            ...(states && { state: [...states] }),
            ...(before !== undefined && { before }),
            ...(queue !== undefined && { queue }),
            ...(person !== undefined && { person }),
          },
        },
        { signal },
      ),
    [asked, before, queue, person, limit],
  );
  useChanges(({ event }) => event === "task", tasks.reload);
  return (
    <>
      <div class="section-head">
        <Segments<"all" | "live" | "ended" | State>
          label={text("state")}
          value={state ?? group ?? "all"}
          options={[
            { value: "all", label: text("all") },
            { value: "live", label: text("live") },
            { value: "ended", label: text("ended") },
            ...(state ? [{ value: state, label: text(state) }] : []),
          ]}
          onChange={(value) => setQuery({ state: value === "all" ? undefined : value, before: undefined })}
        />
        {queue !== undefined && <ActiveFilter name="queue" value={queue} />}
        {person !== undefined && <ActiveFilter name="person" value={person} />}
      </div>
      <ResourceView resource={tasks}>
        {({ tasks: rows, before: next }) =>
          rows.length === 0 ? (
            <EmptyState title={text("noTasks")} hint={text("noTasksHint")}>
              <code>longhaul task run -- npm test</code>
            </EmptyState>
          ) : (
            <>
              <TaskTable rows={rows} />
              {next !== undefined && (
                <p class="actions">
                  <button
                    type="button"
                    onClick={() => (limit < MAX_PAGE ? setLimit(MAX_PAGE) : setQuery({ before: next }))}
                  >
                    {text(limit < MAX_PAGE ? "more" : "older")}
                  </button>
                </p>
              )}
            </>
          )
        }
      </ResourceView>
    </>
  );
}

/** A filter of the list with the button that ends it. */
function ActiveFilter({ name, value }: { readonly name: "queue" | "person"; readonly value: string }) {
  const label = `${text(name)}: ${value}`;
  return (
    <button
      type="button"
      aria-label={text("dropFilter", { filter: label })}
      onClick={() => setQuery({ [name]: undefined, before: undefined })}
    >
      {label} ×
    </button>
  );
}

/** Rows of tasks, with the time that they took or have taken. */
export function TaskTable({ rows }: { readonly rows: readonly Task[] }) {
  const now = useNow(rows.some((task) => isLive(task.state)));
  return (
    <Table
      caption={text("tasks")}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { name: text("state"), cell: (task) => <TaskState task={task} /> },
        {
          name: text("task"),
          cell: ({ id, title, agent, queue, person }) => (
            <span class="task-name">
              <a href={linkToTask(id)}>{title ?? id}</a>
              <span class="dim">{agent}</span>
              {queue !== undefined && (
                <a class="dim" href={linkToTasks({ queue })}>
                  {text("inQueue", { queue })}
                </a>
              )}
              {person !== undefined && (
                <a class="dim" href={linkToTasks({ person })}>
                  {text("forPerson", { person })}
                </a>
              )}
            </span>
          ),
        },
        {
          name: text("conversation"),
          isMinor: true,
          cell: ({ parentSession, session }) => (
            <a class="task-session" href={linkToSession(parentSession ?? session)}>
              {parentSession ?? session}
            </a>
          ),
        },
        { name: text("mode"), isMinor: true, cell: ({ mode }) => text(mode) },
        {
          name: text("started"),
          isMinor: true,
          cell: ({ createdAt }) => <span title={formatTime(createdAt)}>{formatAgo(createdAt, now)}</span>,
        },
        {
          name: text("duration"),
          isNumber: true,
          cell: ({ createdAt, settledAt }) => formatDuration((settledAt ?? now) - createdAt),
        },
      ]}
    />
  );
}

function TaskState({ task: { state, isOwned, outcome, queue, worker } }: { readonly task: Task }) {
  const isWaiting = queue !== undefined && worker === undefined;
  const isOrphan = isLive(state) && !isOwned && !isWaiting;
  return (
    <span class="task-state">
      <StatePill state={state} />
      {isOrphan && <span class="warm">{text("noOwner")}</span>}
      {outcome?.reason && <span class="dim">{outcome.reason}</span>}
    </span>
  );
}
