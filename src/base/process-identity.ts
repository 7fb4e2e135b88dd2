import { readFileSync } from "node:fs";

/** A process as the system knows it now. */
export interface ProcessState {
  /** When it began, in a unit of the system; tells it from a later one of the same number. Undefined if it cannot be told. */
  readonly startedAt: string | undefined;
}

/** The process of a number; undefined if there is none, or it is dead and waits only for its parent. */
export function findProcess(pid: number): ProcessState | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isThere(pid)) return undefined;
  const fields = statFields(pid);
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

/** The fields of /proc/<pid>/stat behind the name, which may hold spaces and brackets; undefined where there is no /proc. */
function statFields(pid: number): readonly string[] | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    return line.slice(line.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
