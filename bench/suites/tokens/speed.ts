import { estimateText } from "../../../src/window/tokens/estimate.ts";
import { loadTokenizer } from "../../../src/window/tokens/tokenizer.ts";
import type { ChildTask } from "../../child-job.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { KINDS, type Kind, samplesOf } from "./samples.ts";

interface Question {
  readonly kind: Kind;
  readonly rounds: number;
}

interface Answer {
  readonly texts: number;
  /** Megabytes of UTF-8 per CPU second. */
  readonly estimate: number;
  readonly exact: number;
}

const MAX_TEXTS = 400;

/** Counts the same texts with the estimator and with the exact tokenizer, in turn. */
export const race: ChildTask<Question, Answer> = async function race({ kind, rounds }) {
  const tokenizer = await loadTokenizer("o200k_base");
  const texts = samplesOf(kind, MAX_TEXTS);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const speed = (count: (text: string) => number) => () => {
    const before = process.cpuUsage();
    for (const text of texts) count(text);
    const { user, system } = process.cpuUsage(before);
    return bytes / (user + system);
  };
  const { estimate, exact } = await alternate(rounds, {
    estimate: speed(estimateText),
    exact: speed(tokenizer.count),
  });
  return { texts: texts.length, estimate: median(estimate), exact: median(exact) };
};

/** Speed of estimates compared with exact counts. */
export const speed: Measurement = {
  name: "speed",
  async *run(bench) {
    for (const kind of KINDS) {
      const { texts, estimate, exact } = await bench.child(kind, import.meta.url, race, {
        kind,
        rounds: bench.isQuick ? 3 : 9,
      });
      if (texts > 0)
        yield toRow({
          id: `speed.${kind}`,
          value: estimate,
          unit: "MB/s",
          beside: "o200k_base (gpt-tokenizer)",
          besideValue: exact,
        });
    }
  },
};
