import { collectGarbage } from "../../measure/memory.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { SUBJECTS } from "./subjects.ts";
import { HOSTILE_TEXTS } from "./texts.ts";

interface Input {
  readonly subject: string;
  readonly characters: number;
  readonly rounds: number;
}

interface Slowest {
  readonly text: string;
  readonly msPerMb: number;
}

/** Maximum time that a megabyte of any text may block the thread. */
const MAX_MS_PER_MB = 50;
const SHOWN = 3;

/** Thread CPU milliseconds per million characters, slowest texts first. */
export async function slowestTexts({ subject, characters, rounds }: Input): Promise<readonly Slowest[]> {
  const work = SUBJECTS[subject];
  if (!work) throw new Error(`There is no subject ${subject}.`);
  for (const { make } of HOSTILE_TEXTS) work(make(20_000));
  return HOSTILE_TEXTS.map(({ name, make }) => {
    const text = make(characters);
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      collectGarbage();
      const before = process.threadCpuUsage();
      work(text);
      const { user, system } = process.threadCpuUsage(before);
      best = Math.min(best, (user + system) / 1_000);
    }
    return { text: name, msPerMb: best / (characters / 1e6) };
  }).sort((one, other) => other.msPerMb - one.msPerMb);
}

/** The slowest texts of each subject. */
export const blocking: Measurement = {
  name: "blocking per megabyte",
  async *run(bench) {
    const characters = bench.isQuick ? 250_000 : 2_000_000;
    for (const subject of Object.keys(SUBJECTS)) {
      const input = { subject, characters, rounds: bench.isQuick ? 2 : 3 };
      const slowest = await bench.child(subject, import.meta.url, slowestTexts, input, ["--expose-gc"]);
      for (const { text, msPerMb } of slowest.slice(0, SHOWN))
        yield toRow({
          id: `hostile.${subject}: ${text}`,
          value: msPerMb,
          unit: "ms/MB",
          goal: atMost(MAX_MS_PER_MB, "ms/MB"),
        });
    }
  },
};
