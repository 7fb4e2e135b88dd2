import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openKernel } from "longhaul";
import { watchSources } from "longhaul/formats";
import type { ChildTask } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

const FILES = 12_000;
const FOLDERS = 300;
/** The longest time between two looks of a watch at folders in which nothing changes. */
const LOOK_EVERY_MS = 15 * 60_000;

/** Watches a tree of imported conversations in which nothing happens. */
export const watchIdle: ChildTask<
  { readonly files: number; readonly idleMs: number },
  { readonly idlePercent: number; readonly lookMs: number }
> = async function watchIdle({ files, idleMs }, { folder }) {
  const tree = join(folder, "projects");
  writeConversations(tree, files);
  await using kernel = await openKernel({ path: join(folder, "store"), embedder: null });
  const cpuMs = (since?: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1_000;
  };
  const watchFor = async (durationMs: number, often: { readonly intervalMs?: number } = {}) => {
    const stop = new AbortController();
    let [started, cpu] = [performance.now(), process.cpuUsage()];
    for await (const { type } of watchSources(kernel, [tree], { signal: stop.signal, ...often })) {
      if (type !== "idle") continue;
      // The garbage of the survey is collected before the measurement.
      await sleep(2_000);
      globalThis.gc?.();
      [started, cpu] = [performance.now(), process.cpuUsage()];
      setTimeout(() => stop.abort(), durationMs);
    }
    return { cpuMs: cpuMs(cpu), wallMs: performance.now() - started };
  };
  const idle = await watchFor(idleMs);
  const looks = await watchFor(10_000, { intervalMs: 1_000 });
  const lookMs = looks.cpuMs / 10;
  const idlePercent = 100 * (idle.cpuMs / idle.wallMs + lookMs / Math.max(LOOK_EVERY_MS, lookMs / 0.0005));
  return { idlePercent, lookMs };
};

/** CPU of the watching service between changes. */
export const watching: Measurement = {
  name: "watch",
  async *run(bench) {
    const [files, idleMs] = bench.isQuick ? [FILES / 6, 60_000] : [FILES, 180_000];
    const figures = await bench.child("watching", import.meta.url, watchIdle, { files, idleMs });
    const unit = `% of a core, ${files} conversations in ${FOLDERS} folders`;
    yield toRow({ id: "watch.idle", value: figures.idlePercent, unit, goal: atMost(0.1, "%") });
    yield toRow({ id: "watch.look", value: figures.lookMs, unit: "ms of CPU for a look at all folders" });
  },
};

function writeConversations(tree: string, files: number): void {
  for (let number = 0; number < files; number++) {
    const folder = join(tree, `-srv-project-${number % FOLDERS}`);
    const sessionId = `0198f0aa-0000-4222-8333-${String(number).padStart(12, "0")}`;
    mkdirSync(folder, { recursive: true });
    const lines = ["user", "assistant"].map((type, index) => ({
      ...{ type, sessionId, uuid: `${sessionId}-${index}`, parentUuid: index ? `${sessionId}-0` : null },
      ...{ isSidechain: false, cwd: "/srv/project", version: "2.1.80" },
      timestamp: new Date(Date.UTC(2026, 0, 1) + number * 1_000 + index).toISOString(),
      message: { role: type, content: [{ type: "text", text: `${"word ".repeat(200)} ${number}` }] },
    }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(join(folder, `${sessionId}.jsonl`), text);
  }
}
