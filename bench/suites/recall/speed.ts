import { rankTurns } from "../../../src/recall/rank/rank-turns.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { detectTraits } from "../../../src/recall/text/traits.ts";
import type { ChildTask } from "../../child-job.ts";
import { percentile } from "../../measure/percentile.ts";
import { measureReadableLags } from "../../measure/readable-lag.ts";
import { Random } from "../../random.ts";
import { type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { indexItems } from "./in-memory-scope.ts";
import { loadEmbedding } from "./load-embedding.ts";
import { openRecall } from "./open-recall.ts";

const TEXT_COUNT = 5_000;
const CANDIDATE_COUNT = 300;
const ROUNDS = 40;
const QUESTION = "How many weeks ago did I ask you about the broken harbour crane near Lisbon?";

/** Results of the measurement of speed. */
interface SpeedResult {
  readonly chunksPerSecond: number;
  readonly rankMs: number;
  /** From an acknowledged append until a recall has found it. */
  readonly readableMs: number;
}

/** Chunks analyzed per CPU second, and CPU milliseconds to rank one question's candidates. */
export const measureSpeed: ChildTask<null, SpeedResult> = async function measureSpeed() {
  const texts = syntheticTexts();
  const analyseMs = cpuMs(() => {
    for (const text of texts) {
      analyzeText(text);
      detectTraits(text);
    }
  });
  const items = texts.slice(0, CANDIDATE_COUNT).map((text, index) => {
    const role = index % 2 === 0 ? ("user" as const) : ("assistant" as const);
    return { session: Math.floor(index / 20), role, speaker: null, atMs: index, text };
  });
  const scope = indexItems(items, loadEmbedding());
  const candidates = scope.candidates(QUESTION);
  const context = scope.context(CANDIDATE_COUNT);
  const rounds = Array.from({ length: ROUNDS }, () => cpuMs(() => rankTurns(QUESTION, candidates, context)));
  const rankMs = rounds.sort((left, right) => left - right)[ROUNDS / 2] ?? 0;
  const { log, memory, close } = await openRecall();
  const lags = await measureReadableLags(log, memory, ROUNDS);
  await close();
  const readableMs = percentile(lags, 0.5);
  return { chunksPerSecond: (1_000 * texts.length) / analyseMs, rankMs, readableMs };
};

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Texts of about 400 characters over a vocabulary with a natural frequency distribution. */
function syntheticTexts(): string[] {
  const random = new Random(7);
  const syllables = [
    "ka",
    "lo",
    "mi",
    "ter",
    "sun",
    "ra",
    "ver",
    "ing",
    "po",
    "dra",
    "shi",
    "ed",
    "con",
    "ne",
  ];
  const vocabulary = Array.from({ length: 20_000 }, () =>
    Array.from({ length: random.between(1, 5) }, () => syllables[random.between(0, syllables.length)]).join(
      "",
    ),
  );
  vocabulary.splice(0, 8, "I", "the", "harbour", "crane", "weeks", "Lisbon", "broken", "asked");
  return Array.from({ length: TEXT_COUNT }, () => {
    const words = Array.from(
      { length: 65 },
      () => vocabulary[Math.floor(vocabulary.length ** random.next()) - 1],
    );
    return `${words.join(" ")}.`;
  });
}

const atLeast = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });
const atMost = (value: number): Goal => ({ text: `<= ${value}`, isMet: (found) => found <= value });

/** Cost of analysis and ranking. */
export const speed: Measurement = {
  name: "speed",
  async *run(bench) {
    const { chunksPerSecond, rankMs, readableMs } = await bench.child(
      "speed",
      import.meta.url,
      measureSpeed,
      null,
    );
    yield toRow({ id: "analyse", value: chunksPerSecond, unit: "chunks/CPU s", goal: atLeast(5_000) });
    yield toRow({ id: "readable", value: readableMs, unit: "ms after an append, median" });
    yield toRow({ id: `rank.${CANDIDATE_COUNT}`, value: rankMs, unit: "CPU ms, median", goal: atMost(5) });
  },
};
