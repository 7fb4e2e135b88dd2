import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isProcessAlive } from "../process/system-table.ts";
import { getCurrentHolder, type Holder } from "./worktree-mark.ts";

/** Limits for waiting for a lock. */
interface LockOptions {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

const PAUSE_MS = 20;

/**
 * Runs `work` while holding a lock file. Returns undefined if the lock was not free in time or its folder is gone. The
 * lock of a dead process of this machine is taken over.
 */
export async function withLockFile<T>(
  path: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<{ readonly value: T } | undefined> {
  const text = JSON.stringify({ ...(await getCurrentHolder()), id: randomUUID() });
  const end = performance.now() + (options.waitMs ?? 10_000);
  while (!(await takeLock(path, text))) {
    if (options.signal?.aborted || performance.now() > end) return undefined;
    if (!(await removeDeadLock(path))) await sleep(PAUSE_MS);
  }
  if ((await readContent(path)) !== text) return undefined;
  try {
    return { value: await work() };
  } finally {
    if ((await readContent(path)) === text) await rm(path, { force: true });
  }
}

/** Returns whether to stop trying: the lock is taken, or can never be taken. */
async function takeLock(path: string, text: string): Promise<boolean> {
  // Write a draft first: a lock file without an owner could never be taken over.
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: "wx" });
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return true;
    throw error;
  }
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    if (hasErrorCode(error, "ENOENT")) return true;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function removeDeadLock(path: string): Promise<boolean> {
  const text = await readContent(path);
  if (text === undefined) return true;
  const holder = parseHolder(text);
  if (holder && (holder.host !== hostname() || (await isProcessAlive(holder)))) return false;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return true;
  }
  // If another process took the lock over just before, restore its lock.
  if ((await readContent(aside)) !== text) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return true;
}

function parseHolder(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text);
    return typeof holder?.pid === "number" ? holder : undefined;
  } catch {
    return undefined;
  }
}

async function readContent(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
