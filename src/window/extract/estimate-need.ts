import type { TextOrigin } from "./part-text.ts";

/** The history of a clue (an identifier or a line) from which its need is computed. */
interface ClueHistory {
  readonly isLine: boolean;
  /** Source of the text in which the clue last appeared. */
  readonly origin: TextOrigin;
  /**
   * Number of messages that contain the clue; `named` counts those that the assistant wrote itself, in text or calls.
   */
  readonly seen: number;
  readonly named: number;
  /** Messages since the clue appeared, since the assistant named it, and since its file was touched. */
  readonly age: number;
  readonly sinceNamed: number;
  readonly pathAge?: number | undefined;
}

interface Weights {
  readonly base: number;
  readonly origin: Readonly<Record<TextOrigin, number>>;
  /** Added once the assistant has named the clue; `named` applies to each doubling of how often. */
  readonly isNamed: number;
  readonly named: number;
  readonly seen: number;
  /** For each doubling of the messages since then. */
  readonly age: number;
  readonly sinceNamed: number;
  /**
   * Added if the clue appears in a file; `pathAge` applies to each doubling of the messages since the file was touched.
   */
  readonly hasPath: number;
  readonly pathAge: number;
}

/**
 * The range of a prediction. The weights below are a logistic regression over sessions of several agents. The assistant
 * tends to name a clue again if it named that clue often and recently; it quotes lines of files and of its own edits,
 * hardly ever lines of prose; everything fades with distance.
 */
export type Horizon = "near" | "far";

const LINE: Readonly<Record<Horizon, Weights>> = {
  near: {
    base: -3.05,
    origin: {
      read: 0,
      result: -1.09,
      edit: -0.42,
      call: -0.03,
      user: -1.86,
      assistant: -1.79,
      reasoning: -1.72,
    },
    isNamed: 1.18,
    named: 0.61,
    seen: 0.44,
    age: -0.43,
    sinceNamed: -0.11,
    hasPath: 0.69,
    pathAge: -0.15,
  },
  far: {
    base: -1.97,
    origin: {
      read: 0,
      result: -1.25,
      edit: -0.59,
      call: -0.31,
      user: -0.9,
      assistant: -2.55,
      reasoning: -1.75,
    },
    isNamed: 1.66,
    named: 0.65,
    seen: 0.33,
    age: -0.46,
    sinceNamed: -0.13,
    hasPath: 0.46,
    pathAge: -0.05,
  },
};

const IDENTIFIER: Readonly<Record<Horizon, Weights>> = {
  near: {
    base: -3.38,
    origin: {
      read: 0,
      result: -1.01,
      edit: -0.57,
      call: -0.37,
      user: -0.56,
      assistant: -0.74,
      reasoning: 0.17,
    },
    isNamed: 2.85,
    named: 0.43,
    seen: 0.55,
    age: -0.39,
    sinceNamed: -0.25,
    hasPath: 0.02,
    pathAge: -0.02,
  },
  far: {
    base: -2.1,
    origin: {
      read: 0,
      result: -1.19,
      edit: -0.67,
      call: -0.43,
      user: -0.89,
      assistant: -1.0,
      reasoning: -0.09,
    },
    isNamed: 2.94,
    named: 0.45,
    seen: 0.52,
    age: -0.42,
    sinceNamed: -0.24,
    hasPath: -0.08,
    pathAge: 0.01,
  },
};

/** The probability that a clue is named again within about 16 messages (near) or 60 (far). */
export function estimateNeed(clue: ClueHistory, horizon: Horizon): number {
  const weights = (clue.isLine ? LINE : IDENTIFIER)[horizon];
  let sum = weights.base + weights.origin[clue.origin];
  sum += weights.seen * Math.min(2, log2(Math.max(1, clue.seen)));
  sum += weights.age * log2(Math.max(2, clue.age));
  if (clue.named > 0) {
    sum += weights.isNamed + weights.named * log2(1 + clue.named);
    sum += weights.sinceNamed * log2(Math.max(1, clue.sinceNamed));
  }
  if (clue.pathAge !== undefined) sum += weights.hasPath + weights.pathAge * log2(1 + clue.pathAge);
  return 1 / (1 + Math.exp(-sum));
}

const LOGARITHMS = Float64Array.from({ length: 4_096 }, (_, index) => Math.log2(index));

function log2(count: number): number {
  return LOGARITHMS[count] ?? Math.log2(count);
}
