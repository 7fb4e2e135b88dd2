import { computeFileFeatures, FILE_FEATURES, type FileCandidate, type FileContext } from "./file-features.ts";
import { FILE_PART_OF, FILE_WEIGHTS, type FileScorePart } from "./file-weights.ts";

export type { FileCandidate } from "./file-features.ts";

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
