import type { FileFeature } from "./file-features.ts";

/** The parts by which a file's score is reported. */
export type FileScorePart = "words" | "definitions" | "path" | "meaning" | "kind" | "history";

/** The part that each feature belongs to. */
export const FILE_PART_OF: Readonly<Record<FileFeature, FileScorePart>> = {
  whole: "words",
  chunk: "words",
  definitions: "definitions",
  name: "path",
  folder: "path",
  pointed: "path",
  similarity: "meaning",
  test: "kind",
  testAsked: "kind",
  document: "kind",
  vendored: "kind",
  setup: "kind",
  lastTouched: "history",
  lastEdited: "history",
  touched: "history",
  lastTouchedNamed: "history",
  touchedNamed: "history",
};

/** Weights fitted by `bench/suites/recall/edited-files/fit-files.ts`. */
export const FILE_WEIGHTS: Readonly<Record<FileFeature, number>> = {
  whole: 1.44,
  chunk: 2.2,
  definitions: 1.8,
  name: 1.05,
  folder: 1.14,
  pointed: 2.91,
  similarity: 0.93,
  test: -1.71,
  testAsked: 1.1,
  document: -1.95,
  vendored: -0.37,
  setup: -0.9,
  lastTouched: 1.63,
  lastEdited: 1.11,
  touched: 2.6,
  lastTouchedNamed: 1.66,
  touchedNamed: 1.81,
};
