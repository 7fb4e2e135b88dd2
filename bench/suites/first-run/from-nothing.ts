import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import { openCorpus } from "../../corpus.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { writeSession } from "../formats/synthetic.ts";
import { runProgram } from "./run-program.ts";

const TASKS = new URL("run-program.ts", import.meta.url).href;
const SESSIONS = 16;
const FULL_BYTES = 160_000_000;
const QUICK_BYTES = 6_400_000;
const REPEATS = 3;
const QUESTION = ["recall", "which file does the reader of ranges live in?"];

/** From histories on disk to the first recall, and the CPU of the next recalls from the command line. */
export const fromNothing: Measurement = {
  name: "first run",
  async *run(bench) {
    const bytes = bench.isQuick ? QUICK_BYTES : FULL_BYTES;
    const history = writeHistory(bench, bytes);
    const store = ["--store", join(bench.folder, "store")];
    const run = (step: string, args: readonly string[]) => bench.child(step, TASKS, runProgram, args);
    const imported = await run("importing and indexing", ["import", history, "--quiet", ...store]);
    const first = await run("first recall", [...QUESTION, "--json", ...store]);
    const empty = await findBest(() => run("empty program", []));
    const next = await findBest(() => run("next recall", [...QUESTION, "--json", ...store]));
    const { hits, withoutVectors, unindexed } = JSON.parse(first.stdout);
    if (hits.length === 0 || withoutVectors !== undefined || unindexed !== undefined)
      throw new Error(`the index is incomplete: ${first.stdout.slice(0, 200)}`);
    const size = `${Math.round(bytes / 1e6)} MB of history`;
    yield toRow({
      id: "first-run.cpu",
      value: (imported.cpuMs + first.cpuMs) / 1_000,
      unit: `CPU seconds to the first recall, ${size}`,
    });
    yield toRow({
      id: "first-run.wall",
      value: (imported.wallMs + first.wallMs) / 1_000,
      unit: `seconds to the first recall, ${size}`,
    });
    yield toRow({
      id: "first-run.recall.cpu",
      value: (next.cpuMs - empty.cpuMs) / 1_000,
      unit: "CPU seconds of a recall above node -e 0",
      beside: "node -e 0",
      besideValue: empty.cpuMs / 1_000,
      goal: bench.isQuick ? undefined : atMost(0.4, "s"),
    });
  },
};

/** Writes histories as Claude Code does, each with content of its own. */
function writeHistory(bench: Bench, bytes: number): string {
  const folder = join(bench.folder, "history");
  mkdirSync(folder, { recursive: true });
  const corpus = openCorpus(join(bench.folder, "corpus"));
  for (let session = 0; session < SESSIONS; session++) {
    const id = `0198f0aa-0000-4222-8333-${String(session).padStart(12, "0")}`;
    writeSession(join(folder, `${id}.jsonl`), corpus, bytes / SESSIONS, session + 1);
  }
  return folder;
}

async function findBest<T extends { readonly cpuMs: number }>(measure: () => Promise<T>): Promise<T> {
  let best = await measure();
  for (let repeat = 1; repeat < REPEATS; repeat++) {
    const one = await measure();
    if (one.cpuMs < best.cpuMs) best = one;
  }
  return best;
}
