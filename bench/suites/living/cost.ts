import { sumReplays } from "../../../src/cli/replaying/replay-totals.ts";
import { longhaul, POLICIES, type Policy, PROTOCOL, replay } from "../../../src/kernel/faces/window.ts";
import { openKernel } from "../../../src/kernel/index.ts";
import type { ChildTask } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { median } from "../../measure/percentile.ts";
import { findDataFolder } from "../../real-strings.ts";
import { atLeast, atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { realConversations } from "../window/conversations.ts";

interface Question {
  readonly data: string;
  readonly windows: readonly number[];
  readonly every: number;
}

interface Answer {
  readonly window: number;
  readonly sessions: number;
  /** Of sessions with at least 40 requests: cost beside an unbounded window, shares kept, and the dearest session. */
  readonly cost: number;
  readonly identifiers: number;
  readonly lines: number;
  readonly dearest: number;
  /** Of the shorter sessions: how many, and the dearest one. */
  readonly shortSessions: number;
  readonly dearestShort: number;
  /** Requests of all sessions that were larger than the window without its reserve. */
  readonly above: number;
}

/** Requests of a long session, as in `longhaul replay --min 40`. */
const LONG = 40;

/** Replays real coding sessions with the default policy. */
export const replayCoding: ChildTask<Question, readonly Answer[]> = async function replayCoding(question) {
  const none = POLICIES.find(({ name }) => name === "none") as Policy;
  const policy = longhaul();
  const kept = question.windows.map((window) => ({
    window,
    above: 0,
    scores: [] as Parameters<typeof sumReplays>[2][number][],
  }));
  for await (const conversation of realConversations(question.data, { least: 1, every: question.every })) {
    const unbounded = replay(conversation, none, Number.POSITIVE_INFINITY);
    for (const one of kept) {
      const score = replay(conversation, policy, one.window, {
        onRequest: ({ tokens }) => {
          if (tokens > one.window - PROTOCOL.reserveTokens) one.above++;
        },
      });
      one.scores.push({ score, unbounded, tokenPrice: undefined });
    }
  }
  // To the digits in which the goals are stated, so that a figure and its goal are never printed alike and judged apart.
  const round = (value: number, digits: number) => Number(value.toFixed(digits));
  return kept.map(({ window, above, scores }) => {
    const isLong = ({ score }: (typeof scores)[number]) => score.requests >= LONG;
    const long = sumReplays(policy.name, window, scores.filter(isLong));
    const short = sumReplays(
      policy.name,
      window,
      scores.filter((one) => !isLong(one)),
    );
    return {
      window,
      sessions: long.sessions,
      cost: round(long.costShare, 3),
      identifiers: round(100 * long.identifiers, 1),
      lines: round(100 * long.lines, 1),
      dearest: round(long.dearest, 2),
      shortSessions: short.sessions,
      dearestShort: round(short.dearest, 2),
      above,
    };
  });
};

/** Cost, identifiers and lines by window. */
const GOALS: Readonly<Record<number, readonly [number, number, number]>> = {
  32000: [0.27, 91, 81],
  64000: [0.4, 99, 97],
  128000: [0.45, 99.4, 99],
  200000: [0.45, 99.4, 99],
};

/** Real coding sessions under the default policy: cost, retention, and the dearest session. */
export const coding: Measurement = {
  name: "coding",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out coding: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    const windows = bench.isQuick ? [64_000] : Object.keys(GOALS).map(Number);
    const question = { data, windows, every: bench.isQuick ? 12 : 1 };
    for (const answer of await bench.child("coding", import.meta.url, replayCoding, question)) {
      const id = `coding.${answer.window / 1_000}k`;
      const goals = bench.isQuick ? undefined : GOALS[answer.window];
      const unit = `of ${answer.sessions} sessions`;
      yield toRow({ id: `${id}.cost`, value: answer.cost, unit, goal: goals && atMost(goals[0], "") });
      yield toRow({
        id: `${id}.ids`,
        value: answer.identifiers,
        unit: "% kept",
        goal: goals && atLeast(goals[1], "%"),
      });
      yield toRow({
        id: `${id}.lines`,
        value: answer.lines,
        unit: "% kept",
        goal: goals && atLeast(goals[2], "%"),
      });
      yield toRow({ id: `${id}.dearest`, value: answer.dearest, unit: "of itself", goal: atMost(1, "") });
      yield toRow({
        id: `${id}.dearest-short`,
        value: answer.shortSessions === 0 ? null : answer.dearestShort,
        unit: `of ${answer.shortSessions} sessions`,
        goal: atMost(1, ""),
      });
      yield toRow({ id: `${id}.above`, value: answer.above, unit: "requests", goal: atMost(0, "") });
    }
  },
};

interface Fits {
  /** CPU of each fit that brought a page. */
  readonly paged: readonly number[];
  readonly fits: number;
}

const TOKENS = 115_000;

/** A conversation of 115,000 tokens in a window of 64,000, then questions about its beginning through the same handle. */
export const fitPages: ChildTask<{ readonly questions: number }, Fits> = async function fitPages(
  { questions },
  { folder, corpusFolder },
) {
  const corpus = openCorpus(corpusFolder);
  await using kernel = await openKernel({
    path: folder,
    models: { bench: { window: 64_000, maxOutput: 4_000 } },
  });
  const session = await kernel.session("fits");
  const live = session.window({ model: "bench" });
  const texts: string[] = [];
  for (let bytes = 0; bytes < TOKENS * 4; ) {
    const { role, text } = corpus.message(texts.length);
    await session.append({ role, text });
    texts.push(text);
    bytes += text.length;
    if (texts.length % 20 === 1) await live.fit();
  }
  if (texts.length % 2 === 1) await session.append({ role: "assistant", text: "Yes." });
  const paged: number[] = [];
  for (let index = 0; index < questions; index++) {
    const about = (texts[2 + (index % 40)] as string).split(/\s+/).slice(0, 30).join(" ");
    await session.append({ role: "user", text: `What did we say about this: ${about}` });
    const before = process.cpuUsage();
    const { page, tokens } = await live.fit();
    const { user, system } = process.cpuUsage(before);
    if (page !== undefined) paged.push((user + system) / 1_000);
    await live.report({ inputTokens: 10, cacheReadTokens: tokens, outputTokens: 10 });
    await session.append({ role: "assistant", text: "That is what we said." });
  }
  return { paged, fits: questions };
};

/** CPU of a fit that pages something in. */
export const fits: Measurement = {
  name: "cpu",
  async *run(bench) {
    const question = { questions: bench.isQuick ? 30 : 100 };
    const { paged, fits: all } = await bench.child("fits", import.meta.url, fitPages, question);
    if (paged.length === 0) bench.note("cpu: no fit brought a page.");
    yield toRow({ id: "cpu.pages", value: paged.length, unit: `of ${all} fits` });
    yield toRow({
      id: "cpu.fit",
      value: paged.length === 0 ? null : median(paged),
      unit: "ms with a page",
      goal: atMost(15, "ms"),
    });
  },
};
