import type { TaskStore } from "../store/task-store.ts";
import type { Runner } from "./runner.ts";

/** Dependencies of `handleRequests`. */
interface HandleRequestsDeps<OpenedSession> {
  readonly runner: Runner<OpenedSession>;
  readonly tasks: TaskStore;
  readonly owner: string;
  readonly onWarning?: (warning: string) => void;
}

/** Carries out the requests of other processes for tasks that run here: kill, or move to the background. */
export async function handleRequests<OpenedSession>(parts: HandleRequestsDeps<OpenedSession>): Promise<void> {
  const { runner, tasks, owner, onWarning = () => undefined } = parts;
  if (runner.runs.size === 0) return;
  for (const { id, wish, wishReason, epoch } of await tasks.listRequested(owner)) {
    const run = runner.runs.get(id);
    if (!run) continue;
    if (wish === "kill") void runner.settle(run, "kill", { state: "killed", reason: wishReason ?? "asked" });
    else if (run.task.mode === "foreground")
      runner.detach(run).catch((error) => onWarning(`Task ${id} was not moved to the background: ${error}`));
    else await tasks.change({ id, expect: { epoch }, set: { wish: undefined } }).catch(() => undefined);
  }
}
