import type { Tags } from "./tag.ts";

/** One process and no other: a pid alone may be given again to somebody else's process. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was born, in the words of the system that says so; only equality means something. */
  readonly born: string;
}

/** A process as the system shows it at one moment. */
export interface SeenProcess extends ProcessIdentity, Tags {
  readonly parent: number;
  readonly group: number;
  readonly state: "alive" | "stopped" | "zombie";
}

/** Picks the processes that are meant out of a list. */
export type FindMembers = (list: readonly SeenProcess[]) => readonly SeenProcess[];

/**
 * What runs on this machine for this user. Answers come at once where the system allows it (Linux), so that they can be
 * had while the process exits.
 */
export interface ProcessTable {
  list(): readonly SeenProcess[] | Promise<readonly SeenProcess[]>;
  /** The process that has this pid now, if any. */
  look(pid: number): ProcessIdentity | undefined | Promise<ProcessIdentity | undefined>;
  /** Sends a signal if the process is still the same one; tells whether it went out. */
  signal(target: ProcessIdentity, signal: NodeJS.Signals): boolean | Promise<boolean>;
  /**
   * Looks at the youngest processes alone, where the system can tell which they are, and sends a signal to those that are
   * picked: one that forks and exits all the time is gone before a whole list is made. Tells how many there were.
   */
  chase?(find: FindMembers, signal?: NodeJS.Signals): number;
}

/** Sends a signal to a process (or, negative, to a group) and tells whether there was one to take it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // Gone, or not ours to signal: either way nobody took it.
    return false;
  }
}

/** Tells whether two identities are of the same process. */
export function isSameProcess(one: ProcessIdentity | undefined, other: ProcessIdentity | undefined): boolean {
  return one !== undefined && other !== undefined && one.pid === other.pid && one.born === other.born;
}
