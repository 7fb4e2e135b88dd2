import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Kernel } from "../../index.ts";
import { listSessionIds } from "../find-session.ts";

/** The content of a store. */
export interface StoreStatus {
  readonly sizeBytes: number;
  readonly sessions: number;
  readonly index: Awaited<ReturnType<Kernel["memory"]["state"]>>;
}

/** Measures a store and its index; without a folder, as its database counts. */
export async function measureStore(kernel: Kernel, path: string | undefined): Promise<StoreStatus> {
  let sessions = 0;
  for await (const _ of listSessionIds(kernel)) sessions++;
  const sizeBytes = path === undefined ? await measureDatabase(kernel) : await measureFolder(path);
  return { sizeBytes, sessions, index: await kernel.memory.state() };
}

async function measureDatabase(kernel: Kernel): Promise<number> {
  const { logBytes, memoryBytes } = await kernel.size();
  return logBytes + memoryBytes;
}

async function measureFolder(path: string): Promise<number> {
  let sizeBytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const facts = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    sizeBytes += facts?.size ?? 0;
  }
  return sizeBytes;
}
