import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openKernel } from "longhaul";
import { importSources } from "longhaul/formats";
import type { ChildTask } from "../../child-job.ts";
import { folderBytes } from "../../measure/folder-bytes.ts";
import { megabytes } from "../../measure/memory.ts";
import { findDataFolder } from "../../real-strings.ts";
import { toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

interface RealFigures {
  readonly sources: number;
  readonly bytes: number;
  readonly copiedBytes: number;
  readonly storeBytes: number;
  readonly cpuMs: number;
}

/** Imports a folder of real transcripts into a new store. */
export const importFolder: ChildTask<string, RealFigures> = async function importFolder(path, { folder }) {
  const store = join(folder, "store");
  await using kernel = await openKernel({ path: store });
  const started = process.cpuUsage();
  const { totals } = await importSources(kernel, [path]);
  const { user, system } = process.cpuUsage(started);
  return {
    sources: totals.sources,
    bytes: totals.bytesRead,
    copiedBytes: totals.copiedBytes,
    storeBytes: folderBytes(store),
    cpuMs: (user + system) / 1_000,
  };
};

/** Real transcripts by format: their share of copies, and their size in the store. */
export const real: Measurement = {
  name: "real",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out real transcripts: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    const folder = join(data, "transcripts");
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const figures = await bench.child(entry.name, import.meta.url, importFolder, join(folder, entry.name));
      yield toRow({
        id: `real.${entry.name}.copies`,
        value: megabytes(figures.copiedBytes),
        unit: `MB left out as copies, ${figures.sources} sessions`,
        beside: "MB in the files",
        besideValue: megabytes(figures.bytes),
      });
      yield toRow({
        id: `real.${entry.name}.disk`,
        value: megabytes(figures.storeBytes),
        unit: "MB in the store",
        beside: "MB in the files",
        besideValue: megabytes(figures.bytes),
      });
      yield toRow({
        id: `real.${entry.name}.speed`,
        value: megabytes(figures.bytes) / (figures.cpuMs / 1_000),
        unit: "MB a CPU second, unpacking included",
      });
    }
  },
};
