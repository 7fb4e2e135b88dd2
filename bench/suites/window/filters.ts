import {
  longhaul,
  POLICIES,
  type Policy,
  type ReplayScore,
  replay,
  SHRINK_FILTERS,
  type ShrinkOption,
} from "../../../src/kernel/faces/window.ts";
import type { ChildTask } from "../../child-job.ts";
import { findDataFolder } from "../../real-strings.ts";
import { toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { realConversations } from "./conversations.ts";

interface Question {
  readonly data: string;
  readonly every: number;
  readonly window: number;
}

interface Answer {
  readonly name: string;
  readonly cost: number;
  /** The same over the sessions that never reach 80,000 tokens. */
  readonly shortCost: number;
  readonly identifiers: number;
  readonly lines: number;
}

const SHORT_TOKENS = 80_000;

/** Every filter alone, all together, and none. */
const CASES: readonly { readonly name: string; readonly shrink: ShrinkOption }[] = [
  { name: "none", shrink: false },
  ...SHRINK_FILTERS.map((name) => ({
    name: `only-${name}`,
    shrink: Object.fromEntries(SHRINK_FILTERS.map((filter) => [filter, filter === name])),
  })),
  { name: "all", shrink: true },
];

/** Replays real conversations with single filters of tool results. */
export const replayFilters: ChildTask<Question, readonly Answer[]> = async function replayFilters(question) {
  const none = POLICIES.find(({ name }) => name === "none") as Policy;
  const scores = CASES.map(() => [] as { score: ReplayScore; free: ReplayScore }[]);
  for await (const conversation of realConversations(question.data, { least: 40, every: question.every })) {
    const free = replay(conversation, none, Number.POSITIVE_INFINITY);
    for (const [index, { shrink }] of CASES.entries())
      scores[index]?.push({ score: replay(conversation, longhaul({ shrink }), question.window), free });
  }
  return CASES.map(({ name }, index) => {
    const all = scores[index] ?? [];
    const sum = (of: (one: (typeof all)[number]) => number, some = all) =>
      some.reduce((total, one) => total + of(one), 0);
    const costOf = (some: typeof all) =>
      sum(({ score }) => score.cost, some) / sum(({ free }) => free.cost, some);
    return {
      name,
      cost: costOf(all),
      shortCost: costOf(all.filter(({ free }) => free.peakTokens < SHORT_TOKENS)),
      identifiers:
        (100 * sum(({ score }) => score.identifiers.kept)) / sum(({ score }) => score.identifiers.used),
      lines: (100 * sum(({ score }) => score.lines.kept)) / sum(({ score }) => score.lines.used),
    };
  });
};

/** The share of the cost that each filter of tool results saves by itself, and the retention with it. */
export const filters: Measurement = {
  name: "filters",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out filters: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    for (const window of bench.isQuick ? [128_000] : [64_000, 128_000]) {
      const question = { data, window, every: bench.isQuick ? 12 : 1 };
      const answers = await bench.child(`${window / 1_000}k`, import.meta.url, replayFilters, question);
      const none = answers[0] as Answer;
      for (const { name, cost, shortCost, identifiers, lines } of answers) {
        const id = `filters.${window / 1_000}k.${name}`;
        yield toRow({ id: `${id}.cost`, value: cost, unit: "of a window without bounds" });
        yield toRow({
          id: `${id}.saved`,
          value: 100 * (1 - cost / none.cost),
          unit: "% of the cost without filters",
        });
        yield toRow({ id: `${id}.short-cost`, value: shortCost, unit: "of sessions below 80k tokens" });
        yield toRow({ id: `${id}.ids`, value: identifiers, unit: "% kept" });
        yield toRow({ id: `${id}.lines`, value: lines, unit: "% kept" });
      }
    }
  },
};
