import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openKernel } from "longhaul";
import { importSources } from "longhaul/formats";
import type { ChildTask } from "../../child-job.ts";
import { folderBytes } from "../../measure/folder-bytes.ts";
import { collectGarbage, currentMemory, peakRssBytes } from "../../measure/memory.ts";

/** Figures of one file's import. */
export interface ImportFigures {
  readonly bytes: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly startRssBytes: number;
  readonly peakRssBytes: number;
  readonly storeBytes: number;
  readonly messages: number;
  readonly copiedBytes: number;
  /** Time of importing the unchanged file again. */
  readonly againMs: number;
}

/** Imports a file into a new store. */
export const importFile: ChildTask<string, ImportFigures> = async function importFile(path, { folder }) {
  const store = join(folder, "store");
  const startRssBytes = currentMemory().rssBytes;
  await using kernel = await openKernel({ path: store });
  const startedCpu = process.cpuUsage();
  const started = performance.now();
  const report = await importSources(kernel, [path]);
  const wallMs = performance.now() - started;
  const cpu = process.cpuUsage(startedCpu);
  const peak = peakRssBytes();
  const startedAgain = performance.now();
  await importSources(kernel, [path]);
  return {
    bytes: statSync(path).size,
    wallMs,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    startRssBytes,
    peakRssBytes: peak,
    storeBytes: folderBytes(store),
    messages: report.totals.added.messages,
    copiedBytes: report.totals.copiedBytes,
    againMs: performance.now() - startedAgain,
  };
};

/** Reads and parses the lines of a file: the lower bound for any JSONL reader. */
export const parseFile: ChildTask<string, { readonly cpuMs: number }> = async function parseFile(path) {
  collectGarbage();
  const started = process.cpuUsage();
  let records = 0;
  for await (const line of createInterface({ input: createReadStream(path, { highWaterMark: 1 << 20 }) })) {
    if (typeof JSON.parse(line) === "object") records++;
  }
  if (records === 0) throw new Error(`${path} holds no records`);
  const { user, system } = process.cpuUsage(started);
  return { cpuMs: (user + system) / 1_000 };
};
