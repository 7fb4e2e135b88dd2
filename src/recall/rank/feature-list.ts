/** The features of ranking, in the groups by which a hit's parts are reported. */
export const RANK_FEATURES = [
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
  "answer",
  "context",
  "repeat",
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
  "asking",
  "code",
  "length",
  "edit",
  "prose",
  "thought",
  "output",
  "mark",
  "earlierWork",
  "laterWork",
  "planned",
  "committed",
  "requested",
  "repaired",
  "decision",
] as const;

export type Feature = (typeof RANK_FEATURES)[number];

/** One value per candidate, by feature. */
export type FeatureTable = Readonly<Record<Feature, Float64Array>>;

/** A feature table while it is being filled. */
export type FeatureColumns = Record<Feature, Float64Array>;

/** Columns of zeros for `count` candidates. */
export function createFeatureColumns(count: number): FeatureColumns {
  return Object.fromEntries(RANK_FEATURES.map((name) => [name, new Float64Array(count)])) as FeatureColumns;
}

/** Score from words and vectors alone, on which the features of neighbors and sessions are built. */
export function computeOwnScore(features: FeatureTable, index: number): number {
  return (
    ((features.whole[index] as number) +
      (features.chunk[index] as number) +
      (features.soft[index] as number) +
      (features.similarity[index] as number)) /
    2
  );
}

/** Scales a column to a maximum of 1. */
export function scaleToOne(values: Float64Array): void {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  if (most > 0)
    for (let index = 0; index < values.length; index++) values[index] = (values[index] as number) / most;
}
