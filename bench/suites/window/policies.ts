import { POLICIES, type Policy, type ReplayScore, replay } from "../../../src/window-entry.ts";
import type { ChildTask } from "../../child-job.ts";
import { findDataFolder } from "../../real-strings.ts";
import { type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { realConversations } from "./conversations.ts";

interface Question {
  readonly data: string;
  readonly every: number;
  readonly window: number;
  readonly policies: readonly string[];
}

interface Answer {
  readonly policy: string;
  readonly cost: number;
  readonly identifiers: number;
  readonly lines: number;
  readonly edits: number;
  readonly dearest: number;
}

/** Replays real conversations under policies, compared with an unlimited window. */
export const replayAll: ChildTask<Question, readonly Answer[]> = async function replayAll(question) {
  const none = POLICIES.find(({ name }) => name === "none") as Policy;
  const chosen = POLICIES.filter(({ name }) => question.policies.includes(name));
  const scores = new Map(chosen.map(({ name }) => [name, [] as { score: ReplayScore; free: ReplayScore }[]]));
  for await (const conversation of realConversations(question.data, { least: 40, every: question.every })) {
    const free = replay(conversation, none, Number.POSITIVE_INFINITY);
    for (const policy of chosen)
      scores.get(policy.name)?.push({ score: replay(conversation, policy, question.window), free });
  }
  return [...scores].map(([policy, all]) => {
    const sum = (of: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0);
    return {
      policy,
      cost: sum(({ score }) => score.cost) / sum(({ free }) => free.cost),
      identifiers:
        (100 * sum(({ score }) => score.identifiers.kept)) / sum(({ score }) => score.identifiers.used),
      lines: (100 * sum(({ score }) => score.lines.kept)) / sum(({ score }) => score.lines.used),
      edits: (100 * sum(({ score }) => score.edits)) / sum(({ score }) => score.requests),
      dearest: Math.max(...all.map(({ score, free }) => score.cost / free.cost)),
    };
  });
};

/** Goals of the default policy, by window. */
const GOALS: Readonly<
  Record<number, { readonly cost: number; readonly ids: number; readonly lines: number }>
> = {
  32000: { cost: 0.27, ids: 91, lines: 82 },
  64000: { cost: 0.375, ids: 99, lines: 97 },
  128000: { cost: 0.41, ids: 99.4, lines: 98.9 },
  200000: { cost: 0.41, ids: 99.4, lines: 98.9 },
};

const most = (limit: number): Goal => ({ text: `<= ${limit}`, isMet: (value) => value <= limit });
const least = (limit: number): Goal => ({ text: `>= ${limit} %`, isMet: (value) => value >= limit });

/** Every policy on real sessions: its cost compared with doing nothing, and the content it keeps. */
export const policies: Measurement = {
  name: "policies",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out policies: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    const names = POLICIES.map(({ name }) => name).filter((name) => name !== "none");
    for (const window of bench.isQuick ? [64_000] : [32_000, 64_000, 128_000, 200_000]) {
      const question = { data, window, every: bench.isQuick ? 12 : 1, policies: names };
      const answers = await bench.child(`${window / 1_000}k`, import.meta.url, replayAll, question);
      for (const { policy, cost, identifiers, lines, edits, dearest } of answers) {
        const goals = policy === "longhaul" && !bench.isQuick ? GOALS[window] : undefined;
        const id = `policies.${window / 1_000}k.${policy}`;
        yield toRow({
          id: `${id}.cost`,
          value: cost,
          unit: "of a window without bounds",
          goal: goals && most(goals.cost),
        });
        yield toRow({ id: `${id}.ids`, value: identifiers, unit: "% kept", goal: goals && least(goals.ids) });
        yield toRow({ id: `${id}.lines`, value: lines, unit: "% kept", goal: goals && least(goals.lines) });
        yield toRow({ id: `${id}.edits`, value: edits, unit: "for 100 requests" });
        yield toRow({
          id: `${id}.dearest`,
          value: dearest,
          unit: "of itself without bounds",
          goal: goals && most(1),
        });
      }
    }
  },
};
