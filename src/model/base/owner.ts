import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { findProcess } from "./process-identity.ts";

/** A writer without a heartbeat for this long counts as dead, on any machine. */
export const OWNER_LEASE_MS = 60_000;

/** Owners that are alive in this process. */
const livingOwners = new Set<string>();

/** Creates the name under which a kernel writes drafts: `<host>|<pid>|<process start>.<random>`. */
export function claimOwner(): string {
  const owner = `${hostname()}|${process.pid}|${findProcess(process.pid)?.startedAt ?? ""}.${randomUUID()}`;
  livingOwners.add(owner);
  return owner;
}

/** Marks the owner as no longer writing. */
export function releaseOwner(owner: string): void {
  livingOwners.delete(owner);
}

/**
 * Whether the owner's process runs on this machine; independent of clocks, so that a clock jump cannot end a writer.
 */
export function isOwnerRunning(owner: string): boolean {
  const [host, pid, rest = ""] = owner.split("|");
  if (host !== hostname()) return false;
  if (Number(pid) === process.pid) return livingOwners.has(owner);
  const startedAt = rest.includes(".") ? rest.slice(0, rest.indexOf(".")) : "";
  return startedAt !== "" && findProcess(Number(pid))?.startedAt === startedAt;
}

/** Whether the owner may still be writing: judged by its process on this machine, else by its last heartbeat. */
export function isOwnerAlive(owner: string, lastSignAt: number, now: number): boolean {
  const [host, pid] = owner.split("|");
  if (host === hostname()) {
    if (Number(pid) === process.pid) return livingOwners.has(owner);
    if (!findProcess(Number(pid))) return false;
  }
  return now - lastSignAt <= OWNER_LEASE_MS;
}

/** The machine and the process of an owner. */
export function parseOwner(owner: string): { readonly host: string; readonly pid: number } {
  const [host = "", pid] = owner.split("|");
  return { host, pid: Number(pid) };
}
