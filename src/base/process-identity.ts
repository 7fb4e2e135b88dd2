import { readFileSync } from "node:fs";

/** A running process. */
export interface ProcessState {
  /** Start time in a unit of the system, which tells processes with the same pid apart; undefined if unknown. */
  readonly startedAt: string | undefined;
}

/** The process with a pid; undefined if there is none or it is a zombie. */
export function findProcess(pid: number): ProcessState | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isThere(pid)) return undefined;
  const fields = readStatFields(pid);
  if (!fields) return { startedAt: undefined };
  const [state, startedAt] = [fields[0], fields[19]];
  return state === "Z" || state === "X" ? undefined : { startedAt };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The fields of /proc/<pid>/stat after the name, which may contain spaces and brackets; undefined without /proc. */
function readStatFields(pid: number): readonly string[] | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    return line.slice(line.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
