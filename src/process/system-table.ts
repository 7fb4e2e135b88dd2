import { existsSync } from "node:fs";
import { createProcTable } from "./proc-table.ts";
import type { ProcessIdentity, ProcessTable } from "./process-table.ts";
import { createPsTable } from "./ps-table.ts";

let table: ProcessTable | undefined;

/** The process table of the current system. */
export function getSystemTable(): ProcessTable {
  table ??= existsSync("/proc/self/stat") ? createProcTable() : createPsTable();
  return table;
}

/** The identity of a live process (this one by default), which other processes can check with `isProcessAlive`. */
export async function identifyProcess(
  pid = process.pid,
  from = getSystemTable(),
): Promise<ProcessIdentity | undefined> {
  return from.look(pid);
}

/** Returns whether an identified process still runs; a reused pid does not count. */
export async function isProcessAlive(identity: ProcessIdentity, from = getSystemTable()): Promise<boolean> {
  return (await from.look(identity.pid))?.born === identity.born;
}
