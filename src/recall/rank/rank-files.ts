import {
  computeFileFeatures,
  FILE_FEATURES,
  FILE_PART_OF,
  type FileCandidate,
  type FileContext,
  type FileFeature,
  type FileScorePart,
} from "./file-features.ts";

export type { FileCandidate } from "./file-features.ts";

/** Weights fitted by `bench/suites/recall/edited-files/fit-files.ts`. */
const FILE_WEIGHTS: Readonly<Record<FileFeature, number>> = {
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

/** A file with its score and the parts of the score. */
interface RankedFile {
  readonly id: number;
  /** Id of the best chunk; null if only the path or a definition matched. */
  readonly chunk: number | null;
  readonly score: number;
  readonly parts: Readonly<Record<FileScorePart, number>>;
}

/** Orders files by how likely they answer a question about code. */
export function rankFiles(
  question: string,
  files: readonly FileCandidate[],
  context: FileContext,
): RankedFile[] {
  const hits = computeFileFeatures(question, files, context).map(({ values, chunk }, index): RankedFile => {
    const parts = { words: 0, definitions: 0, path: 0, meaning: 0, kind: 0, history: 0 };
    for (const feature of FILE_FEATURES)
      parts[FILE_PART_OF[feature]] += FILE_WEIGHTS[feature] * values[feature];
    const score = Object.values(parts).reduce((sum, value) => sum + value, 0);
    return { id: (files[index] as FileCandidate).id, chunk, score, parts };
  });
  return hits.sort((left, right) => right.score - left.score || left.id - right.id);
}
