import { existsSync } from "node:fs";
import { procTable } from "./proc-table.ts";
import type { ProcessIdentity, ProcessTable } from "./process-table.ts";
import { psTable } from "./ps-table.ts";

let table: ProcessTable | undefined;

/** The process table of the current system. */
export function systemTable(): ProcessTable {
  table ??= existsSync("/proc/self/stat") ? procTable() : psTable();
  return table;
}

/** The identity of a live process (this one by default), which other processes can check with `isAlive`. */
export async function identify(
  pid = process.pid,
  from = systemTable(),
): Promise<ProcessIdentity | undefined> {
  return from.look(pid);
}

/** Returns whether an identified process still runs; a reused pid does not count. */
export async function isAlive(identity: ProcessIdentity, from = systemTable()): Promise<boolean> {
  return (await from.look(identity.pid))?.born === identity.born;
}
