import type { Runner } from "./runner.ts";
import type { TaskRun } from "./task-run.ts";

/** Kills a foreground task when its caller's signal fires while the caller waits. */
export function abortWithCaller<OpenedSession>(
  runner: Runner<OpenedSession>,
  run: TaskRun<OpenedSession>,
  signal: AbortSignal | undefined,
): void {
  if (!signal || run.task.mode !== "foreground") return;
  const abort = () => void runner.settle(run, "kill", { state: "killed", reason: "aborted" });
  signal.addEventListener("abort", abort);
  run.releaseCaller = () => signal.removeEventListener("abort", abort);
  if (signal.aborted) abort();
}
