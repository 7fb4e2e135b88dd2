// Mixed work for some minutes in one process: sessions, windows, summaries, recalls, backups, garbage, reliefs.
// Prints one sample per line. By hand: node --expose-gc test/soak/mixed-work.ts FOLDER MINUTES
import { rmSync } from "node:fs";
import { join } from "node:path";
import { backupStore } from "../../src/kernel/faces/log.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { KernelWork } from "./kernel-work.ts";
import { journalBytes, takeSample } from "./sample.ts";

const [folder = "", minutes = "30"] = process.argv.slice(2);
const SAMPLES = 60;
const BACKUP_EVERY = 40;
const COLLECT_EVERY = 25;
const RELIEVE_EVERY = 60;

const path = join(folder, "store");
const endMs = performance.now() + Number(minutes) * 60_000;
const everyMs = (Number(minutes) * 60_000) / SAMPLES;
const limits = { blobCacheBytes: 1_000_000, maxVectorBytes: 4_000_000 };
const kernel = await openKernel({ path, limits, embedder: null, monitor: { intervalMs: 1_000 } });
const work = new KernelWork(kernel);
let operations = 0;
let backups = 0;
/** Since the last sample: settling empties the journal. */
let peakJournalBytes = 0;
let nextMs = performance.now() + everyMs;
for (let round = 0; performance.now() < endMs; round++) {
  await work.round(round);
  peakJournalBytes = Math.max(peakJournalBytes, journalBytes(path));
  if (round % BACKUP_EVERY === BACKUP_EVERY - 1) {
    const to = join(folder, "backup");
    await backupStore(path, to);
    rmSync(to, { recursive: true });
    backups++;
  }
  if (round % COLLECT_EVERY === COLLECT_EVERY - 1) await kernel.collectGarbage();
  if (round % RELIEVE_EVERY === RELIEVE_EVERY - 1) await kernel.monitor.relieve();
  const { appends, fits, compactions, recalls, aborts } = work.counts;
  operations = appends + fits + compactions + recalls + aborts;
  if (performance.now() < nextMs) continue;
  nextMs += everyMs;
  await work.settle();
  const sample = await takeSample(kernel, { walBytes: peakJournalBytes, collection: "usual" });
  peakJournalBytes = 0;
  process.stdout.write(`${JSON.stringify({ requests: operations, ...sample })}\n`);
}
const { damages } = await kernel.check();
await kernel.close();
process.stdout.write(`${JSON.stringify({ ...work.counts, operations, backups, damages })}\n`);
