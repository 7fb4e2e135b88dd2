import { constants } from "node:os";
import type { TaskStatus } from "../../kernel/index.ts";

/** Exit codes of `task run` and `task attach` other than the program's own; docs/cli.md explains them. */
const TASK_EXIT = { late: 124, failed: 125, notRunnable: 126, notFound: 127, killed: 137 } as const;

/** Returns the exit code for a task's outcome: the program's own if it has one. */
export function getTaskExitCode({ state, outcome }: TaskStatus): number {
  if (state === "completed") return 0;
  if (state === "killed") return TASK_EXIT.killed;
  if (outcome?.reason === "deadline") return TASK_EXIT.late;
  const { reason, exitCode, signal, why } = toProgramEnd(outcome?.result);
  if (reason === "not-started") return why === "ENOENT" ? TASK_EXIT.notFound : TASK_EXIT.notRunnable;
  if (reason !== "exited") return TASK_EXIT.failed;
  if (typeof exitCode === "number" && exitCode > 0) return exitCode;
  const number = constants.signals[signal as NodeJS.Signals];
  return number === undefined ? TASK_EXIT.failed : 128 + number;
}

/** Tells whether the program's exit code fully explains the outcome. */
export function isPlainExit({ outcome }: TaskStatus): boolean {
  const { reason, exitCode } = toProgramEnd(outcome?.result);
  return outcome?.reason === "error" && reason === "exited" && typeof exitCode === "number";
}

/** Reads the result that the command agent reports for a program. */
function toProgramEnd(result: unknown): {
  reason?: unknown;
  exitCode?: unknown;
  signal?: unknown;
  why?: unknown;
} {
  return typeof result === "object" && result !== null ? result : {};
}
