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
  whole: 1.36,
  chunk: 2.41,
  definitions: 1.85,
  name: 1.18,
  folder: 1.11,
  pointed: 3.08,
  similarity: 0.34,
  test: -1.65,
  testAsked: 0.95,
  document: -1.8,
  vendored: -0.46,
  setup: -0.92,
  lastTouched: 2.08,
  lastEdited: 0.07,
  touched: 1.3,
};
