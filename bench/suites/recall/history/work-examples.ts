import type { StoredChunk } from "../../../../src/log/store/memory-store.ts";
import { ChunkTexts } from "../../../../src/recall/index/chunk-texts.ts";
import { findCandidates } from "../../../../src/recall/index/find-candidates.ts";
import { TextIndex } from "../../../../src/recall/index/text-index.ts";
import { computeFeatures } from "../../../../src/recall/rank/compute-features.ts";
import { RANK_FEATURES } from "../../../../src/recall/rank/feature-list.ts";
import { parseQuery } from "../../../../src/recall/rank/query.ts";
import type { TurnCandidate } from "../../../../src/recall/rank/turn-candidate.ts";
import { listWholeTerms } from "../../../../src/recall/rare-words.ts";
import { analyzeText } from "../../../../src/recall/text/analyze-text.ts";
import { EVIDENCE } from "../../../../src/recall/text/evidence.ts";
import { VectorIndex } from "../../../../src/recall/vectors/vector-index.ts";
import { loadEmbedding } from "../load-embedding.ts";
import type { OpenRecall } from "../open-recall.ts";
import { buildQuoteTest, type HistoryQuestion, rootOf } from "./history-question.ts";

/** A question about work for fitting: a row of features for each candidate that counts. */
export interface WorkExample {
  readonly set: string;
  readonly group: string;
  readonly rows: number;
  /** Row by row. */
  readonly values: Float32Array;
  /** Rows that answer. */
  readonly gold: readonly number[];
  /** Root session of each row. */
  readonly sessions: readonly string[];
}

/**
 * The features of the candidates that the index supplies for each question. With `isStrict`, turns that quote the
 * question are no evidence for the turns around them either.
 */
export async function buildWorkExamples(
  { log, memory }: OpenRecall,
  questions: readonly HistoryQuestion[],
  format: string,
  isStrict: boolean,
): Promise<WorkExample[]> {
  await memory.catchUp();
  const embedding = loadEmbedding();
  const store = log.store.memory;
  const text = new TextIndex(store);
  const texts = new ChunkTexts(log);
  await text.refresh();
  const space = embedding && {
    embedder: await store.vectors.embedder(embedding.id, embedding.dimensions),
    dimensions: embedding.dimensions,
  };
  const vectors = space ? new VectorIndex(store, space, 1 << 28) : undefined;
  await vectors?.refresh();
  const deps = { store, text, vectors };
  const examples: WorkExample[] = [];
  for (const question of questions) {
    const isQuoteOf = buildQuoteTest(question);
    const vector = embedding?.embed([question.text])[0];
    const found = await findCandidates(deps, {
      terms: [...new Set(analyzeText(question.text))],
      wholeTerms: listWholeTerms(question.text),
      filter: undefined,
      ...(vector && { vector }),
    });
    const quotes = async (id: number): Promise<boolean> =>
      isQuoteOf((await texts.read(found.chunks.get(id) as StoredChunk)) ?? "");
    const turns: TurnCandidate[] = [];
    for (const turn of found.turns) {
      const isQuote = isStrict && (isMarkOf(turn, question.text) || (await hasQuote(turn, quotes)));
      if (!isQuote) turns.push(turn);
    }
    const context = {
      statistics: found.statistics,
      nowMs: null,
      speakers: [],
      vectors: embedding?.vectors ?? null,
    };
    const { features, bestChunks } = computeFeatures(parseQuery(question.text, context), turns, context);
    const kept: number[] = [];
    for (const [index, turn] of turns.entries()) {
      const best = turn.chunks[bestChunks[index] as number];
      if (best && !(await quotes(best.id))) kept.push(index);
    }
    const values = new Float32Array(kept.length * RANK_FEATURES.length);
    for (const [row, index] of kept.entries())
      for (const [column, feature] of RANK_FEATURES.entries())
        values[row * RANK_FEATURES.length + column] = features[feature][index] as number;
    const sessions = kept.map((index) => rootOf(found.sources.get(turns[index]?.session ?? 0)?.name ?? ""));
    const gold = kept.flatMap((index, row) => {
      const at = turns[index]?.atMs ?? 0;
      const isGold = sessions[row] === question.session && at > question.fromMs && at <= question.toMs;
      return isGold ? [row] : [];
    });
    const set = `${format} ${question.kind}${isStrict ? ", strict" : ""}`;
    examples.push({ set, group: question.session, rows: kept.length, values, gold, sessions });
  }
  return examples;
}

async function hasQuote(turn: TurnCandidate, quotes: (id: number) => Promise<boolean>): Promise<boolean> {
  for (const { id } of turn.chunks) if (await quotes(id)) return true;
  return false;
}

/** True for a call that begins the item of a plan that the question quotes, naming it by its number. */
function isMarkOf({ chunks }: TurnCandidate, question: string): boolean {
  const asked = new Set(analyzeText(question));
  return chunks.some(
    ({ terms, traits }) =>
      (traits & EVIDENCE.active) !== 0 && [...asked].every((term) => terms.includes(term)),
  );
}
