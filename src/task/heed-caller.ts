import type { Run } from "./run.ts";
import type { Runner } from "./runner.ts";

/** Ends a foreground task when the signal of its caller fires, for as long as the caller waits. */
export function heedCaller<OpenedSession>(
  runner: Runner<OpenedSession>,
  run: Run<OpenedSession>,
  signal: AbortSignal | undefined,
): void {
  if (!signal || run.task.mode !== "foreground") return;
  const abort = () => void runner.settle(run, "kill", { state: "killed", reason: "aborted" });
  signal.addEventListener("abort", abort);
  run.releaseCaller = () => signal.removeEventListener("abort", abort);
  if (signal.aborted) abort();
}
