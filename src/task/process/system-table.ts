import { existsSync } from "node:fs";
import { procTable } from "./proc-table.ts";
import type { ProcessIdentity, ProcessTable } from "./process-table.ts";
import { psTable } from "./ps-table.ts";

let table: ProcessTable | undefined;

/** The process table of the system this runs on. */
export function systemTable(): ProcessTable {
  table ??= existsSync("/proc/self/stat") ? procTable() : psTable();
  return table;
}

/** The identity of a living process (of this one by default), to be kept where another process can ask `isAlive`. */
export async function identify(
  pid = process.pid,
  from = systemTable(),
): Promise<ProcessIdentity | undefined> {
  return from.look(pid);
}

/** Tells whether a process that was identified once, by whomever, still runs; a reused pid is not taken for it. */
export async function isAlive(identity: ProcessIdentity, from = systemTable()): Promise<boolean> {
  return (await from.look(identity.pid))?.born === identity.born;
}
