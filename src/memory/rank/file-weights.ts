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
};

/** Weights fitted by `bench/suites/recall/edited-files/fit-files.ts`. */
export const FILE_WEIGHTS: Readonly<Record<FileFeature, number>> = {
  whole: 1.34,
  chunk: 2.21,
  definitions: 1.88,
  name: 1.13,
  folder: 1.13,
  pointed: 3.17,
  similarity: 0.86,
  test: -1.66,
  testAsked: 0.93,
  document: -1.77,
  vendored: -0.44,
  setup: -0.88,
  lastTouched: 2.11,
  lastEdited: 0.36,
  touched: 1.08,
};
