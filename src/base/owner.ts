import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { findProcess } from "./process-identity.ts";

/** A writer that has shown no sign of life for this long is taken for dead, wherever it ran. */
export const OWNER_LEASE_MS = 60_000;

/** Owners that live in this process. */
const living = new Set<string>();

/** A name under which a kernel writes drafts: `<host>|<pid>|<start of the process>.<random>`. */
export function claimOwner(): string {
  const owner = `${hostname()}|${process.pid}|${findProcess(process.pid)?.startedAt ?? ""}.${randomUUID()}`;
  living.add(owner);
  return owner;
}

/** Says that the owner writes no more. */
export function releaseOwner(owner: string): void {
  living.delete(owner);
}

/** Whether the owner's own process runs on this machine, whatever the clocks say: a jump of one must not end a writer. */
export function isOwnerRunning(owner: string): boolean {
  const [host, pid, rest = ""] = owner.split("|");
  if (host !== hostname()) return false;
  if (Number(pid) === process.pid) return living.has(owner);
  const startedAt = rest.includes(".") ? rest.slice(0, rest.indexOf(".")) : "";
  return startedAt !== "" && findProcess(Number(pid))?.startedAt === startedAt;
}

/** Whether the owner may still be writing, judged by its process where that can be seen, else by its last sign of life. */
export function isOwnerAlive(owner: string, lastSignAt: number, now: number): boolean {
  const [host, pid] = owner.split("|");
  if (host === hostname()) {
    if (Number(pid) === process.pid) return living.has(owner);
    if (!findProcess(Number(pid))) return false;
  }
  return now - lastSignAt <= OWNER_LEASE_MS;
}
