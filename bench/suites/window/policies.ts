import {
  POLICIES,
  type Policy,
  type ReplayScore,
  replay,
  summarizingPolicy,
} from "../../../src/kernel/faces/window.ts";
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

/** Conversations by the tokens of their longest request in an unlimited window. */
const LENGTHS = [
  { name: "short", below: 80_000 },
  { name: "medium", below: 200_000 },
  { name: "long", below: Number.POSITIVE_INFINITY },
] as const;

type LengthName = (typeof LENGTHS)[number]["name"] | "all";

interface Answer {
  readonly policy: string;
  readonly length: LengthName;
  readonly sessions: number;
  readonly cost: number;
  /** Cost including the estimated cost of fetching lost content again. */
  readonly fullCost: number;
  /** Estimated extra calls for 100 requests. */
  readonly refetches: number;
  /** Shares kept: old texts of edits, paths of calls, identifiers and lines of replies. */
  readonly editTexts: number;
  readonly paths: number;
  readonly identifiers: number;
  readonly lines: number;
  readonly edits: number;
  readonly dearest: number;
}

interface Comparison {
  readonly score: ReplayScore;
  readonly free: ReplayScore;
}

const ALL_POLICIES: readonly Policy[] = [...POLICIES, summarizingPolicy()];

/** Replays real conversations under policies, compared with an unlimited window. */
export const replayAll: ChildTask<Question, readonly Answer[]> = async function replayAll(question) {
  const none = POLICIES.find(({ name }) => name === "none") as Policy;
  const chosen = ALL_POLICIES.filter(({ name }) => question.policies.includes(name));
  const scores = new Map(chosen.map(({ name }) => [name, [] as Comparison[]]));
  for await (const conversation of realConversations(question.data, { least: 40, every: question.every })) {
    const free = replay(conversation, none, Number.POSITIVE_INFINITY);
    for (const policy of chosen)
      scores.get(policy.name)?.push({ score: replay(conversation, policy, question.window), free });
  }
  return [...scores].flatMap(([policy, all]) => {
    const groups = Map.groupBy(all, ({ free }) => findLength(free.peakTokens));
    return [
      sumScores(policy, "all", all),
      ...LENGTHS.flatMap(({ name }) => {
        const own = groups.get(name);
        return own ? [sumScores(policy, name, own)] : [];
      }),
    ];
  });
};

function findLength(tokens: number): LengthName {
  return LENGTHS.find(({ below }) => tokens < below)?.name ?? "long";
}

function sumScores(policy: string, length: LengthName, all: readonly Comparison[]): Answer {
  const sum = (of: (one: Comparison) => number) => all.reduce((total, one) => total + of(one), 0);
  const share = (of: (score: ReplayScore) => { readonly used: number; readonly kept: number }) =>
    (100 * sum(({ score }) => of(score).kept)) /
    Math.max(
      1,
      sum(({ score }) => of(score).used),
    );
  const free = sum((one) => one.free.cost);
  const requests = sum(({ score }) => score.requests);
  return {
    policy,
    length,
    sessions: all.length,
    cost: sum(({ score }) => score.cost) / free,
    fullCost: sum(({ score }) => score.cost + score.refetch.cost) / free,
    refetches: (100 * sum(({ score }) => score.refetch.calls)) / requests,
    editTexts: share(({ editTexts }) => editTexts),
    paths: share(({ paths }) => paths),
    identifiers: share(({ identifiers }) => identifiers),
    lines: share(({ lines }) => lines),
    edits: (100 * sum(({ score }) => score.edits)) / requests,
    dearest: Math.max(...all.map((one) => one.score.cost / one.free.cost)),
  };
}

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
    const names = ALL_POLICIES.map(({ name }) => name).filter((name) => name !== "none");
    for (const window of bench.isQuick ? [64_000] : [32_000, 64_000, 128_000, 200_000]) {
      const question = { data, window, every: bench.isQuick ? 12 : 1, policies: names };
      const answers = await bench.child(`${window / 1_000}k`, import.meta.url, replayAll, question);
      bench.note(renderTable(window, answers));
      for (const answer of answers) if (answer.length === "all") yield* toRows(window, answer, bench.isQuick);
    }
  },
};

function* toRows(window: number, answer: Answer, isQuick: boolean) {
  const { policy, cost, fullCost, editTexts, paths, identifiers, lines, edits, dearest } = answer;
  const goals = policy === "longhaul" && !isQuick ? GOALS[window] : undefined;
  const id = `policies.${window / 1_000}k.${policy}`;
  yield toRow({
    id: `${id}.cost`,
    value: cost,
    unit: "of a window without bounds",
    goal: goals && most(goals.cost),
  });
  yield toRow({ id: `${id}.full`, value: fullCost, unit: "the same with estimated re-acquisition" });
  yield toRow({ id: `${id}.texts`, value: editTexts, unit: "% of edits with their old text" });
  yield toRow({ id: `${id}.paths`, value: paths, unit: "% of paths of calls" });
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

/** All figures of one window, by length of session. */
function renderTable(window: number, answers: readonly Answer[]): string {
  const head = `${window / 1_000}k window; cost relative to a window without bounds; sessions by the tokens of their longest request`;
  const rows = [
    [
      ...["sessions", "n", "policy", "cost", "+refetch", "calls/100"],
      ...["texts", "paths", "ids", "lines", "edits/100", "dearest"],
    ],
    ...(["all", ...LENGTHS.map(({ name }) => name)] as const).flatMap((length) =>
      answers
        .filter((answer) => answer.length === length)
        .map((answer) => [
          describeLength(length),
          `${answer.sessions}`,
          answer.policy,
          answer.cost.toFixed(3),
          answer.fullCost.toFixed(3),
          answer.refetches.toFixed(2),
          answer.editTexts.toFixed(2),
          answer.paths.toFixed(2),
          answer.identifiers.toFixed(2),
          answer.lines.toFixed(2),
          answer.edits.toFixed(1),
          answer.dearest.toFixed(2),
        ]),
    ),
  ];
  const widths = (rows[0] as string[]).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  );
  const lines = rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] as number)).join("  "),
  );
  return [head, ...lines.map((line) => line.trimEnd())].join("\n");
}

function describeLength(name: LengthName): string {
  if (name === "all") return "all";
  const place = LENGTHS.findIndex((length) => length.name === name);
  const below = LENGTHS[place]?.below ?? Number.POSITIVE_INFINITY;
  const from = LENGTHS[place - 1]?.below;
  return below === Number.POSITIVE_INFINITY ? `${(from ?? 0) / 1_000}k and more` : `under ${below / 1_000}k`;
}
