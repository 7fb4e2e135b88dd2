import { collectGarbage } from "../../measure/memory.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { measureHold } from "./hold.ts";
import { SUBJECTS } from "./subjects.ts";
import { HOSTILE_TEXTS } from "./texts.ts";

interface Input {
  readonly subject: string;
  readonly characters: number;
  readonly rounds: number;
}

/** Milliseconds for each megabyte of a text in UTF-8, as requests have it. */
interface TextHold {
  readonly text: string;
  /** The longest stretch that holds the thread. */
  readonly heldPerMb: number;
  /** All CPU time of the thread. */
  readonly cpuPerMb: number;
}

/** Maximum time that a megabyte of any text may block the thread. */
const MAX_MS_PER_MB = 50;
const SHOWN = 3;

/** How long each text holds the thread: the best of some rounds, since others share the machine. */
export async function longestHolds({ subject, characters, rounds }: Input): Promise<readonly TextHold[]> {
  const work = SUBJECTS[subject];
  if (!work) throw new Error(`There is no subject ${subject}.`);
  for (const { make } of HOSTILE_TEXTS) await work(make(20_000));
  const holds: TextHold[] = [];
  for (const { name, make } of HOSTILE_TEXTS) {
    // A text as it comes from a body: in one piece, with its megabytes counted in UTF-8.
    const bytes = Buffer.from(make(characters));
    const text = bytes.toString("utf8");
    const megabytes = bytes.length / 1e6;
    let [held, cpu] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round++) {
      collectGarbage();
      const { cpuMs, longestMs } = await measureHold(() => work(text));
      held = Math.min(held, longestMs);
      cpu = Math.min(cpu, cpuMs);
    }
    holds.push({ text: name, heldPerMb: held / megabytes, cpuPerMb: cpu / megabytes });
  }
  return holds;
}

/** For each subject the texts with the longest stretch, and those with most CPU time of the thread where that is more. */
export const blocking: Measurement = {
  name: "blocking per megabyte",
  async *run(bench) {
    const characters = bench.isQuick ? 500_000 : 2_000_000;
    for (const subject of Object.keys(SUBJECTS)) {
      const input = { subject, characters, rounds: bench.isQuick ? 2 : 3 };
      const holds = await bench.child(subject, import.meta.url, longestHolds, input, ["--expose-gc"]);
      const row = { unit: "ms/MB", goal: atMost(MAX_MS_PER_MB, "ms/MB") };
      for (const { text, heldPerMb } of longest(holds, "heldPerMb"))
        yield toRow({ id: `hostile.${subject}: ${text}`, value: heldPerMb, ...row });
      // Work that gives nobody a turn holds the thread for all of its CPU time.
      if (holds.every(({ heldPerMb, cpuPerMb }) => heldPerMb === cpuPerMb)) continue;
      for (const { text, cpuPerMb } of longest(holds, "cpuPerMb"))
        yield toRow({ id: `hostile.${subject}: ${text}, all CPU`, value: cpuPerMb, ...row });
    }
  },
};

function longest(holds: readonly TextHold[], by: "heldPerMb" | "cpuPerMb"): readonly TextHold[] {
  return holds.toSorted((one, other) => other[by] - one[by]).slice(0, SHOWN);
}
