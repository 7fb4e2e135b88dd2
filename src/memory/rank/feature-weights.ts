import type { Feature } from "./feature-list.ts";

/** The parts by which a hit's score is reported. */
export type ScorePart =
  | "words"
  | "meaning"
  | "session"
  | "neighbours"
  | "speaker"
  | "time"
  | "kind"
  | "recency";

/** The part of the score that each feature belongs to. */
export const PART_OF: Readonly<Record<Feature, ScorePart>> = {
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
  code: "kind",
  length: "kind",
};

/** Fitted by `bench/suites/recall/fit.ts`, which prints the results on held-out folds. */
export const FEATURE_WEIGHTS: Readonly<Record<"assistant" | "people", Readonly<Record<Feature, number>>>> = {
  assistant: {
    whole: 0.25,
    chunk: 0.55,
    coverage: 0.46,
    chunkCoverage: 0.78,
    nearness: 0.88,
    names: 0.55,
    soft: 0.29,
    similarity: 1.61,
    session: 0.5,
    sessionTop: 0.8,
    before: 0,
    partner: 0.91,
    speaker: 1.17,
    userTurn: 1.22,
    userAsked: 1.03,
    assistantAsked: 0.7,
    time: 2.53,
    numberAsked: 0.93,
    moneyAsked: 2.31,
    timeAsked: 1.12,
    nameAsked: 0.05,
    eventAsked: 0.45,
    personal: 1.03,
    rule: 1.66,
    ruleRequested: 1.73,
    preferenceRequested: 1.49,
    code: -0.35,
    length: -1.23,
  },
  people: {
    whole: 0.25,
    chunk: 0.55,
    coverage: 0.46,
    chunkCoverage: 0.78,
    nearness: 0.88,
    names: 0.55,
    soft: 0.15,
    similarity: 0.94,
    session: 1.84,
    sessionTop: 1.9,
    before: 1.56,
    partner: 0.91,
    speaker: 1.17,
    userTurn: 1.22,
    userAsked: 1.03,
    assistantAsked: 0.7,
    time: 3.52,
    numberAsked: 1.48,
    moneyAsked: 2.31,
    timeAsked: 1.12,
    nameAsked: 0.05,
    eventAsked: 1.3,
    personal: 1.03,
    rule: 1.66,
    ruleRequested: 1.73,
    preferenceRequested: 1.49,
    code: -0.35,
    length: 0.69,
  },
};
