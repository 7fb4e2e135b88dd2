import type { ProcessTags } from "./process-tags.ts";

/** Identifies one process; a pid may be reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Birth time in the format of the system; only equality is meaningful. */
  readonly born: string;
}

/** A snapshot of a process. */
export interface ProcessSnapshot extends ProcessIdentity, ProcessTags {
  readonly parent: number;
  readonly group: number;
  readonly state: "alive" | "stopped" | "zombie";
}

/** Selects processes from a list. */
export type MemberFilter = (list: readonly ProcessSnapshot[]) => readonly ProcessSnapshot[];

/**
 * The processes of this user on this machine. Results are synchronous where the system allows it (Linux), so that they
 * are available while the process exits.
 */
export interface ProcessTable {
  list(): readonly ProcessSnapshot[] | Promise<readonly ProcessSnapshot[]>;
  /** The process that has this pid now, if any. */
  look(pid: number): ProcessIdentity | undefined | Promise<ProcessIdentity | undefined>;
  /** Sends a signal if the process is still the same; returns whether it was sent. */
  signal(target: ProcessIdentity, signal: NodeJS.Signals): boolean | Promise<boolean>;
  /**
   * Checks only the newest processes, if the system can tell them apart, and signals the selected ones: a process that
   * constantly forks and exits is gone before a full list is complete. Returns the number of selected processes.
   */
  chase?(find: MemberFilter, signal?: NodeJS.Signals): number;
  /** True if the last list has a young process whose environment could not be read yet. */
  hasUnread?(): boolean;
}

/** Sends a signal to a process, or to a group if negative; returns whether it was delivered. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // The process is gone, or may not be signaled.
    return false;
  }
}

export function isSameProcess(one: ProcessIdentity | undefined, other: ProcessIdentity | undefined): boolean {
  return one !== undefined && other !== undefined && one.pid === other.pid && one.born === other.born;
}
