/** The parts by which a hit's score is reported. */
export type ScorePart =
  | "words"
  | "meaning"
  | "session"
  | "neighbours"
  | "work"
  | "speaker"
  | "time"
  | "kind"
  | "recency";

/** The features of ranking, and the part of the score that each belongs to. */
export const PART_OF = {
  whole: "words",
  chunk: "words",
  coverage: "words",
  chunkCoverage: "words",
  nearness: "words",
  names: "words",
  soft: "meaning",
  similarity: "meaning",
  session: "session",
  sessionTop: "session",
  before: "neighbours",
  partner: "neighbours",
  answer: "neighbours",
  context: "neighbours",
  repeat: "neighbours",
  speaker: "speaker",
  userTurn: "speaker",
  userAsked: "speaker",
  assistantAsked: "speaker",
  time: "time",
  numberAsked: "kind",
  moneyAsked: "kind",
  timeAsked: "kind",
  nameAsked: "kind",
  eventAsked: "kind",
  personal: "kind",
  rule: "kind",
  ruleRequested: "kind",
  preferenceRequested: "kind",
  asking: "kind",
  code: "kind",
  length: "kind",
  edit: "kind",
  prose: "kind",
  thought: "kind",
  output: "kind",
  mark: "kind",
  earlierWork: "work",
  laterWork: "work",
  planned: "work",
  committed: "work",
  requested: "work",
  repaired: "work",
  announced: "work",
  decision: "kind",
} as const satisfies Readonly<Record<string, ScorePart>>;

export type Feature = keyof typeof PART_OF;

export const RANK_FEATURES: readonly Feature[] = Object.keys(PART_OF) as Feature[];

/** A candidate with its score and the parts of the score. */
export interface RankedHit {
  readonly id: number;
  readonly session: number;
  /** Id of the best chunk; null for a candidate without chunks. */
  readonly chunk: number | null;
  readonly score: number;
  readonly parts: Readonly<Record<ScorePart, number>>;
}

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
