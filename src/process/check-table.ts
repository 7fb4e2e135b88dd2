import { LonghaulError } from "../model/errors.ts";
import type { ProcessTable } from "./process-table.ts";

const checked = new WeakSet<ProcessTable>();

/**
 * Throws PROCESSES_HIDDEN if the table does not show this process: a program started then could leave child processes
 * that nothing finds again.
 */
export async function checkTable(table: ProcessTable): Promise<void> {
  if (checked.has(table)) return;
  if (!(await table.look(process.pid))) throw createProcessesHiddenError();
  checked.add(table);
}

/** The PROCESSES_HIDDEN error, with the reason if `ps` failed. */
export function createProcessesHiddenError(cause?: unknown): LonghaulError {
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason =
    code === "ENOENT" ? "there is no ps" : (message?.split("\n")[0] ?? "no /proc and no working ps");
  const remedy =
    process.platform === "win32"
      ? "Run tasks in WSL, or use agents that start no programs."
      : "Install ps (package procps), or mount /proc.";
  return new LonghaulError(
    "PROCESSES_HIDDEN",
    `This system does not list its processes (${reason}), so the child processes of a program could not be ended. ${remedy}`,
    { cause, details: { reason } },
  );
}
