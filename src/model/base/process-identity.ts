import { readFileSync } from "node:fs";

/** A running process. */
interface ProcessState {
  /** Start time in a unit of the system, which tells processes with the same pid apart; undefined if unknown. */
  readonly startedAt: string | undefined;
}

/** The process with a pid; undefined if there is none or it is a zombie. */
export function findProcess(pid: number): ProcessState | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isThere(pid)) return undefined;
  const line = readStat(pid);
  if (line === undefined) return { startedAt: undefined };
  const { state, startedAt } = parseStatLine(line);
  return state === "Z" || state === "X" ? undefined : { startedAt };
}

/** Fields of a process in /proc, as text. */
interface StatFields {
  /** A letter, such as "Z" for a zombie. */
  readonly state: string | undefined;
  readonly parent: string | undefined;
  readonly group: string | undefined;
  readonly flags: string | undefined;
  /** In ticks since the system started. */
  readonly startedAt: string | undefined;
}

/** Parses /proc/<pid>/stat, whose name field may contain spaces and brackets. */
export function parseStatLine(line: string): StatFields {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, , , , flags] = fields;
  return { state, parent, group, flags, startedAt: fields[19] };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function readStat(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
}
