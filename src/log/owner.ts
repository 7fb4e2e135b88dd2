import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** A writer that has shown no sign of life for this long is taken for dead, wherever it ran. */
export const OWNER_LEASE_MS = 60_000;

/** Owners that live in this process. */
const living = new Set<string>();

/** A name under which a kernel writes drafts: `<host>|<pid>|<random>`. */
export function claimOwner(): string {
  const owner = `${hostname()}|${process.pid}|${randomUUID()}`;
  living.add(owner);
  return owner;
}

/** Says that the owner writes no more. */
export function releaseOwner(owner: string): void {
  living.delete(owner);
}

/** Whether the owner may still be writing, judged by its process where that can be seen, else by its last sign of life. */
export function isOwnerAlive(owner: string, lastSignAt: number, now: number): boolean {
  const [host, pid] = owner.split("|");
  if (host === hostname()) {
    if (Number(pid) === process.pid) return living.has(owner);
    if (!processExists(Number(pid))) return false;
  }
  return now - lastSignAt <= OWNER_LEASE_MS;
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
