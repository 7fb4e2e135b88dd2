import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { getHeapSpaceStatistics } from "node:v8";
import type { Kernel } from "../../src/kernel/index.ts";

/** All quantities of one process that may grow, after a full garbage collection. */
export interface Sample {
  /** Objects on the heap, without code. */
  readonly heapBytes: number;
  /** Bytecode and machine code: V8 compiles rarely used functions after thousands of requests. */
  readonly codeBytes: number;
  readonly rssBytes: number;
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
  readonly walBytes: number;
  readonly files: number;
  readonly timers: number;
  /** Sockets, streams and other resources that keep a process alive, except timers. */
  readonly resources: number;
  readonly listeners: number;
  readonly openSessions: number;
  readonly openDrafts: number;
  readonly openTails: number;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "beforeExit", "message", "warning"] as const;
const OPEN_FILES = "/proc/self/fd";

/** Options of `takeSample`. */
export interface SampleOptions {
  /** Bytes of the store's journals. */
  readonly walBytes: number;
  /** "thorough" also makes V8 release its free pages. */
  readonly collection: "usual" | "thorough";
}

/** Takes a sample of this process, which must run with `--expose-gc`. */
export async function takeSample(kernel: Kernel, { walBytes, collection }: SampleOptions): Promise<Sample> {
  for (let n = 0; n < 3; n++) {
    if (collection === "usual") globalThis.gc?.();
    else globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    // Finalizers and freed array buffers run in tasks of their own.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, rss, external, arrayBuffers } = process.memoryUsage();
  const codeBytes = measureCode();
  const active = process.getActiveResourcesInfo();
  const timers = active.filter((name) => name === "Timeout" || name === "Immediate").length;
  const counts = kernel.counts();
  const open = (kind: string) => (counts[kind] ? counts[kind].opened - counts[kind].closed : 0);
  return {
    heapBytes: heapUsed - codeBytes,
    codeBytes,
    rssBytes: rss,
    externalBytes: external,
    arrayBufferBytes: arrayBuffers,
    walBytes,
    files: openFiles(),
    timers,
    resources: active.length - timers,
    listeners: SIGNALS.reduce((sum, name) => sum + process.listenerCount(name), 0),
    openSessions: open("session"),
    openDrafts: open("draft"),
    openTails: open("tail"),
  };
}

/** V8 keeps machine code in the code spaces; bytecode and descriptions of code in the trusted spaces. */
function measureCode(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => /^(code|trusted)_/.test(name));
  return spaces.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

/** Sizes of the main parts of RSS in bytes on Linux; empty elsewhere. */
export function residentParts(): Readonly<Record<string, number>> {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const found = [...status.matchAll(/^(Rss\w+):\s+(\d+) kB$/gm)];
    return Object.fromEntries(found.map(([, name, kib]) => [name, Number(kib) * 1_024]));
  } catch {
    return {};
  }
}

/** Total size of a store's journals. */
export function journalBytes(folder: string): number {
  const names = readdirSync(folder).filter((name) => name.endsWith("-wal"));
  return names.reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function openFiles(): number {
  try {
    return readdirSync(OPEN_FILES).length;
  } catch {
    return 0;
  }
}
