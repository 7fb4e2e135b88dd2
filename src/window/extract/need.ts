import type { Origin } from "./said.ts";

/** What is known of a fact (an identifier or a line) when its worth is asked for. */
export interface FactHistory {
  readonly isLine: boolean;
  /** Where it was said last. */
  readonly origin: Origin;
  /** In how many messages it was said, and in how many of the assistant's own words and calls. */
  readonly seen: number;
  readonly named: number;
  /** Messages since it was said, since the assistant named it, and since its file was touched. */
  readonly age: number;
  readonly sinceNamed: number;
  readonly pathAge?: number | undefined;
}

interface Weights {
  readonly base: number;
  readonly origin: Readonly<Record<Origin, number>>;
  /** Once the assistant has named it, and for each doubling of how often. */
  readonly isNamed: number;
  readonly named: number;
  readonly seen: number;
  /** For each doubling of the messages since. */
  readonly age: number;
  readonly sinceNamed: number;
  /** It stands in a file, and for each doubling of the messages since that was touched. */
  readonly hasPath: number;
  readonly pathAge: number;
}

/**
 * How likely the assistant names a fact again within the next messages: a logistic regression over sessions of several
 * agents. What it says is plain: what the assistant has named itself, often and lately, it will name again; lines of
 * files and of its own edits are quoted, lines of prose hardly ever; everything fades with distance.
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

/** The chance that a fact is named again: within some 16 messages (near), or some 60 (far). */
export function needOf(fact: FactHistory, horizon: Horizon): number {
  const weights = (fact.isLine ? LINE : IDENTIFIER)[horizon];
  let sum = weights.base + weights.origin[fact.origin];
  sum += weights.seen * Math.min(2, log2(Math.max(1, fact.seen)));
  sum += weights.age * log2(Math.max(2, fact.age));
  if (fact.named > 0) {
    sum += weights.isNamed + weights.named * log2(1 + fact.named);
    sum += weights.sinceNamed * log2(Math.max(1, fact.sinceNamed));
  }
  if (fact.pathAge !== undefined) sum += weights.hasPath + weights.pathAge * log2(1 + fact.pathAge);
  return 1 / (1 + Math.exp(-sum));
}

const LOGARITHMS = Float64Array.from({ length: 4_096 }, (_, index) => Math.log2(index));

function log2(count: number): number {
  return LOGARITHMS[count] ?? Math.log2(count);
}
