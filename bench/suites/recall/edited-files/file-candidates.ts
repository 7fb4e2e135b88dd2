import { splitFile } from "../../../../src/recall/files/file-chunks.ts";
import { listDefinitions } from "../../../../src/recall/files/index-files.ts";
import type { FileCandidate, FileContext } from "../../../../src/recall/rank/file-features.ts";
import { analyzeText } from "../../../../src/recall/text/analyze-text.ts";
import type { Embedding } from "../in-memory-scope.ts";

interface AnalyzedFile {
  readonly definitions: readonly string[];
  readonly parts: readonly (readonly string[])[];
  readonly vectors: readonly ArrayLike<number>[];
}

/** Analyzes files for ranking alone: every file is a candidate with all of its chunks. */
export class FileCandidates {
  readonly #embedding: Embedding | null;
  /** By text, because most files are the same for many questions. */
  readonly #analyzed = new Map<string, AnalyzedFile>();

  constructor(embedding: Embedding | null) {
    this.#embedding = embedding;
  }

  /** The candidates for a question, numbered in the order of the files, and their statistics. */
  build(
    question: string,
    files: readonly { readonly path: string; readonly text: string }[],
  ): { candidates: FileCandidate[]; statistics: FileContext["statistics"] } {
    const asked = this.#embedding?.embed([question])[0];
    const frequencies = new Map<string, number>();
    let number = 0;
    const candidates = files.map(({ path, text }, id): FileCandidate => {
      const { definitions, parts, vectors } = this.#analyze(text);
      for (const terms of parts)
        for (const term of new Set(terms)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
      const chunks = parts.map((terms, place) => {
        const vector = vectors[place];
        return {
          id: number++,
          terms,
          traits: 0,
          similarity: asked && vector ? computeProduct(asked, vector) : null,
        };
      });
      return { id, path, length: parts.reduce((sum, terms) => sum + terms.length, 0), definitions, chunks };
    });
    const terms = candidates.reduce((sum, { length }) => sum + length, 0);
    return {
      candidates,
      statistics: {
        chunks: number,
        averageChunkLength: terms / Math.max(1, number),
        averageLength: terms / Math.max(1, candidates.length),
        frequencyOf: (term) => frequencies.get(term) ?? 0,
      },
    };
  }

  /** Releases the texts of a project. */
  clear(): void {
    this.#analyzed.clear();
  }

  #analyze(text: string): AnalyzedFile {
    const known = this.#analyzed.get(text);
    if (known) return known;
    const texts = splitFile(text).map(({ from, to }) => text.slice(from, to));
    const analyzed = {
      definitions: listDefinitions(text),
      parts: texts.map((own) => analyzeText(own)),
      vectors: this.#embedding?.embed(texts) ?? [],
    };
    this.#analyzed.set(text, analyzed);
    return analyzed;
  }
}

function computeProduct(left: ArrayLike<number>, right: ArrayLike<number>): number {
  let sum = 0;
  for (let axis = 0; axis < left.length; axis++) sum += (left[axis] as number) * (right[axis] as number);
  return sum;
}
