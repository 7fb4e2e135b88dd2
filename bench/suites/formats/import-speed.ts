import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import { openCorpus } from "../../corpus.ts";
import { megabytes } from "../../measure/memory.ts";
import { atMost, type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { importFile, parseFile } from "./import-file.ts";
import { writeSession } from "./synthetic.ts";

const TASKS = new URL("import-file.ts", import.meta.url).href;
/** Same flags as the command line: V8 otherwise keeps up to 100 MB for young objects. */
const CLI_FLAGS = ["--max-semi-space-size=8"];
const FULL_BYTES = 2_000_000_000;
const QUICK_BYTES = 60_000_000;

/** Minimum megabytes per second. */
const atLeast = (limit: number): Goal => ({
  text: `>= ${limit} MB/s`,
  isMet: (value) => value >= limit,
});

/** Speed and memory of importing one synthetic session of 2 GB. */
export const importSpeed: Measurement = {
  name: "import",
  async *run(bench) {
    const path = sessionFile(bench);
    const parsed = await bench.child("parsing lines", TASKS, parseFile, path);
    const figures = await bench.child("importing", TASKS, importFile, path, CLI_FLAGS);
    const perSecond = (ms: number) => megabytes(figures.bytes) / (ms / 1_000);
    const size = `${Math.round(megabytes(figures.bytes))} MB`;
    yield toRow({
      id: "import.speed",
      value: perSecond(figures.cpuMs),
      unit: `MB a CPU second, ${size}`,
      beside: "readline + JSON.parse",
      besideValue: perSecond(parsed.cpuMs),
      goal: atLeast(40),
    });
    yield toRow({ id: "import.speed.wall", value: perSecond(figures.wallMs), unit: `MB/s, ${size}` });
    yield toRow({
      id: "import.rss",
      value: megabytes(figures.peakRssBytes),
      unit: `MB at most, ${size}`,
      beside: "before the import",
      besideValue: megabytes(figures.startRssBytes),
      goal: atMost(200, "MB"),
    });
    yield toRow({
      id: "import.disk",
      value: megabytes(figures.storeBytes),
      unit: "MB in the store",
      beside: "MB in the file",
      besideValue: megabytes(figures.bytes),
    });
    yield toRow({
      id: "import.copies",
      value: megabytes(figures.copiedBytes),
      unit: "MB left out as copies",
      beside: "MB in the file",
      besideValue: megabytes(figures.bytes),
    });
    yield toRow({
      id: "import.again",
      value: figures.againMs,
      unit: "ms when nothing is new",
      beside: "the first import",
      besideValue: figures.wallMs,
    });
  },
};

function sessionFile(bench: Bench): string {
  const path = join(bench.folder, "0198f0aa-0000-4222-8333-444455556666.jsonl");
  writeSession(path, openCorpus(join(bench.folder, "corpus")), bench.isQuick ? QUICK_BYTES : FULL_BYTES);
  return path;
}
