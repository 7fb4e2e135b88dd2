/** What ranking looks at, in groups that a hit's parts are reported by. */
export const FEATURES = [
  "whole",
  "chunk",
  "coverage",
  "chunkCoverage",
  "nearness",
  "names",
  "soft",
  "similarity",
  "session",
  "sessionTop",
  "before",
  "partner",
  "speaker",
  "userTurn",
  "userAsked",
  "assistantAsked",
  "time",
  "numberAsked",
  "moneyAsked",
  "timeAsked",
  "nameAsked",
  "eventAsked",
  "personal",
  "rule",
  "ruleRequested",
  "preferenceRequested",
  "code",
  "length",
] as const;

/** The name of one feature. */
export type Feature = (typeof FEATURES)[number];

/** One value for each candidate, by feature. */
export type FeatureTable = Readonly<Record<Feature, Float64Array>>;

/** The same while it is being filled. */
export type FeatureColumns = Record<Feature, Float64Array>;

/** Columns of zeros for so many candidates. */
export function emptyFeatures(count: number): FeatureColumns {
  return Object.fromEntries(FEATURES.map((name) => [name, new Float64Array(count)])) as FeatureColumns;
}

/** What the words and vectors alone say; neighbours and sessions are built on it. */
export function ownScore(features: FeatureTable, index: number): number {
  return (
    ((features.whole[index] as number) +
      (features.chunk[index] as number) +
      (features.soft[index] as number) +
      (features.similarity[index] as number)) /
    2
  );
}

/** Brings a column to values up to 1. */
export function divideByMost(values: Float64Array): void {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  if (most > 0)
    for (let index = 0; index < values.length; index++) values[index] = (values[index] as number) / most;
}
