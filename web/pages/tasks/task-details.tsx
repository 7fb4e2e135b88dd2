import { useState } from "preact/hooks";
import { toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useChanges } from "../../live/use-changes.ts";
import { useShortcuts } from "../../shell/use-shortcuts.ts";
import { KillDialog } from "./kill-dialog.tsx";
import { NoticeCard } from "./notice-card.tsx";
import { StateHistory } from "./state-history.tsx";
import { isLive, StatePill } from "./state-pill.tsx";
import { TaskFacts } from "./task-facts.tsx";
import { TaskTable } from "./task-list.tsx";
import { TaskOutput } from "./task-output.tsx";
import { tasksText as text } from "./tasks-text.ts";

/** One task: its facts, the history of its state, its children, its output as it comes, and its notice. */
export function TaskDetails({ id }: { readonly id: string }) {
  const task = useResource((signal) => call("GET /tasks/{task}", { params: { task: id } }, { signal }), [id]);
  const children = useResource(
    (signal) => call("GET /tasks", { query: { parent: id, limit: 200 } }, { signal }),
    [id],
  );
  const [isKilling, setKilling] = useState(false);
  useChanges(
    ({ event }) => event === "task",
    () => {
      task.reload();
      children.reload();
    },
  );
  const value = task.value;
  const canDetach = value !== undefined && isLive(value.state) && value.mode === "foreground";
  const detach = async () => {
    try {
      await call("POST /tasks/{task}/detach", { params: { task: id }, body: {} });
      showToast(text("detached"));
    } catch (error) {
      const { message, remedy } = toFailure(error);
      showToast(`${message} ${remedy}`);
    }
    task.reload();
  };
  useShortcuts([
    ...(canDetach ? [{ key: "d", label: text("detach"), run: () => void detach() }] : []),
    ...(value && isLive(value.state) ? [{ key: "x", label: text("kill"), run: () => setKilling(true) }] : []),
  ]);
  return (
    <>
      <p>
        <a href="/tasks">← {text("title")}</a>
      </p>
      <ResourceView resource={task}>
        {(details) => (
          <>
            <header class="task-head">
              <h1>{details.title ?? details.id}</h1>
              <StatePill state={details.state} />
              <span class="task-buttons">
                {canDetach && (
                  <button type="button" onClick={detach}>
                    {text("detach")}
                  </button>
                )}
                {isLive(details.state) && (
                  <button type="button" class="danger" onClick={() => setKilling(true)}>
                    {text("kill")}
                  </button>
                )}
              </span>
            </header>
            <TaskFacts task={details} />
            {details.notice && (
              <section class="section">
                <h2 class="section-head">{text("notice")}</h2>
                <NoticeCard notice={details.notice} hasLink={false} />
              </section>
            )}
            <TaskOutput id={details.id} session={details.session} isLive={isLive(details.state)} />
            {children.value && children.value.tasks.length > 0 && (
              <section class="section">
                <h2 class="section-head">{text("children")}</h2>
                <TaskTable rows={children.value.tasks} />
              </section>
            )}
            <StateHistory moves={details.moves} />
            {isKilling && (
              <KillDialog
                id={details.id}
                subtasks={children.value?.tasks ?? []}
                onKilled={task.reload}
                onClose={() => setKilling(false)}
              />
            )}
          </>
        )}
      </ResourceView>
    </>
  );
}
