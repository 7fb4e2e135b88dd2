import { estimateText } from "../../../src/window/tokens/estimate.ts";
import { loadTokenizer, TOKENIZERS } from "../../../src/window/tokens/tokenizer.ts";
import type { ChildTask } from "../../child-job.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { KINDS, type Kind, samplesOf } from "./samples.ts";

interface Question {
  readonly kind: Kind;
  readonly most: number;
}

interface ErrorFound {
  readonly pieces: number;
  /** Mean absolute error over pieces, as a share. */
  readonly absolute: number;
  /** Error of all pieces together; positive is an overestimate. */
  readonly signed: number;
}

interface Answer {
  readonly tokenizer: string;
  readonly estimate: ErrorFound;
  readonly quarter: ErrorFound;
}

/** Compares estimates of pieces of text with exact counts. */
export const compare: ChildTask<Question, readonly Answer[]> = async function compare({ kind, most }) {
  const texts = samplesOf(kind, most);
  const answers: Answer[] = [];
  for (const name of texts.length > 0 ? TOKENIZERS : []) {
    const { count } = await loadTokenizer(name);
    const exact = texts.map((text) => count(text));
    answers.push({
      tokenizer: name.replace("_base", ""),
      estimate: errorOf(texts.map(estimateText), exact),
      quarter: errorOf(
        texts.map((text) => text.length / 4),
        exact,
      ),
    });
  }
  return answers;
};

function errorOf(estimates: readonly number[], exact: readonly number[]): ErrorFound {
  const shares = estimates.map((estimated, index) => estimated / (exact[index] as number) - 1);
  return {
    pieces: exact.length,
    absolute: sumOf(shares.map(Math.abs)) / exact.length,
    signed: sumOf(estimates) / sumOf(exact) - 1,
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Estimation error by kind of text before any report, compared with the common rule of thumb. */
export const error: Measurement = {
  name: "error",
  async *run(bench) {
    for (const kind of KINDS) {
      const question = { kind, most: bench.isQuick ? 150 : 1_500 };
      const answers = await bench.child(kind, import.meta.url, compare, question);
      if (answers.length === 0) bench.note(`Left out ${kind}: there is no such text here.`);
      for (const { tokenizer, estimate, quarter } of answers) {
        yield toRow({
          id: `error.${tokenizer}.${kind}`,
          value: 100 * estimate.absolute,
          unit: `% of ${estimate.pieces} texts`,
          beside: "characters/4",
          besideValue: 100 * quarter.absolute,
          // Estimates follow the newer encoding; the older one is for comparison.
          goal: tokenizer === "o200k" ? atMost(10, "%") : undefined,
        });
        yield toRow({
          id: `error.${tokenizer}.${kind}.sum`,
          value: 100 * estimate.signed,
          unit: "% of all together",
          beside: "characters/4",
          besideValue: 100 * quarter.signed,
        });
      }
    }
  },
};
