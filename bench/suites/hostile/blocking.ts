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

/** Times for one text, in milliseconds per megabyte of UTF-8. */
interface TextHold {
  readonly text: string;
  /** Longest uninterrupted stretch on the thread. */
  readonly heldPerMb: number;
  /** Total CPU time of the thread. */
  readonly cpuPerMb: number;
}

/** Maximum time that a megabyte of any text may block the thread. */
const MAX_MS_PER_MB = 50;
const SHOWN = 3;

/** Measures how long each text blocks the thread; the best round counts, because the machine is shared. */
export async function longestHolds({ subject, characters, rounds }: Input): Promise<readonly TextHold[]> {
  const work = SUBJECTS[subject];
  if (!work) throw new Error(`There is no subject ${subject}.`);
  for (const { make } of HOSTILE_TEXTS) await work(make(20_000));
  const holds: TextHold[] = [];
  for (const { name, make } of HOSTILE_TEXTS) {
    // Decoding gives a flat string, like text from a request body.
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

/** Reports the texts of each subject with the longest stretch, and those with the most CPU time if that differs. */
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
      // For work that never yields, the longest stretch equals the CPU time.
      if (holds.every(({ heldPerMb, cpuPerMb }) => heldPerMb === cpuPerMb)) continue;
      for (const { text, cpuPerMb } of longest(holds, "cpuPerMb"))
        yield toRow({ id: `hostile.${subject}: ${text}, all CPU`, value: cpuPerMb, ...row });
    }
  },
};

function longest(holds: readonly TextHold[], by: "heldPerMb" | "cpuPerMb"): readonly TextHold[] {
  return holds.toSorted((one, other) => other[by] - one[by]).slice(0, SHOWN);
}
