import { constants } from "node:os";
import type { TaskStatus } from "../../index.ts";

/** What `task run` and `task attach` end with where it is not the program's own exit code; docs/cli.md says when. */
const TASK_EXIT = { late: 124, failed: 125, notRunnable: 126, notFound: 127, killed: 137 } as const;

/** The exit code that tells how a task ended: that of its program wherever that had one. */
export function exitCodeOf({ state, outcome }: TaskStatus): number {
  if (state === "completed") return 0;
  if (state === "killed") return TASK_EXIT.killed;
  if (outcome?.reason === "deadline") return TASK_EXIT.late;
  const { reason, exitCode, signal, why } = endOf(outcome?.result);
  if (reason === "not-started") return why === "ENOENT" ? TASK_EXIT.notFound : TASK_EXIT.notRunnable;
  if (reason !== "exited") return TASK_EXIT.failed;
  if (typeof exitCode === "number" && exitCode > 0) return exitCode;
  const number = constants.signals[signal as NodeJS.Signals];
  return number === undefined ? TASK_EXIT.failed : 128 + number;
}

/** Whether a program's own exit code says all there is to say. */
export function isPlainExit({ outcome }: TaskStatus): boolean {
  const { reason, exitCode } = endOf(outcome?.result);
  return outcome?.reason === "error" && reason === "exited" && typeof exitCode === "number";
}

/** How a program ended, as the agent for programs says it. */
function endOf(result: unknown): { reason?: unknown; exitCode?: unknown; signal?: unknown; why?: unknown } {
  return typeof result === "object" && result !== null ? result : {};
}
