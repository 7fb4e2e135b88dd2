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

/** Measures a store and its index. */
export async function measureStore(kernel: Kernel, path: string): Promise<StoreStatus> {
  let sessions = 0;
  for await (const _ of listSessionIds(kernel)) sessions++;
  return { sizeBytes: await measureFolder(path), sessions, index: await kernel.memory.state() };
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
