import { formatEntryId } from "../model/entry.ts";
import type { StoredChunk } from "../store/memory-store.ts";
import { findLineNumbers } from "./files/file-chunks.ts";
import type { Hit, HitBase } from "./hit.ts";
import type { ChunkTexts } from "./index/chunk-texts.ts";
import type { CandidateSet } from "./index/find-candidates.ts";
import type { FileContext } from "./rank/file-features.ts";
import { type FileCandidate, rankFiles } from "./rank/rank-files.ts";
import { rankTurns } from "./rank/rank-turns.ts";
import type { RankContext } from "./rank/turn-candidate.ts";

const MIN_CHUNKS = 1_000;

/** A chunk with its rank score. */
export interface RankedChunk {
  readonly chunk: StoredChunk;
  readonly score: number;
  readonly parts: Readonly<Record<string, number>>;
}

/**
 * Ranks turns and files in one list. Their scores are not comparable, so each list is scaled by the text score of its
 * best chunk.
 */
export function rankAll(
  question: string,
  found: CandidateSet,
  context: RankContext & Pick<FileContext, "touches">,
): RankedChunk[] {
  const { turns, chunks, sources, byText } = found;
  const files = found.files.map((file): FileCandidate => {
    const root = sources.get(chunks.get(file.id)?.source ?? 0)?.root;
    return root === undefined ? file : { ...file, root };
  });
  const strength = (kind: "session" | "file") =>
    byText.find(({ chunk }) => sources.get(chunks.get(chunk)?.source ?? 0)?.kind === kind)?.score ?? 0;
  const [ofTurns, ofFiles] = [strength("session"), strength("file")];
  const most = Math.max(ofTurns, ofFiles);
  const lists = [
    { hits: rankTurns(question, turns, context), share: most > 0 ? ofTurns / most : 1 },
    { hits: rankFiles(question, files, context), share: most > 0 ? ofFiles / most : 1 },
  ];
  return lists
    .flatMap(({ hits, share }) => {
      const top = Math.max(1e-9, hits[0]?.score ?? 0);
      return hits.flatMap(({ id, chunk: best, score, parts }): RankedChunk[] => {
        const chunk = chunks.get(best ?? id);
        const scaled = files.length === 0 || turns.length === 0 ? score : (share * score) / top;
        return chunk ? [{ chunk, score: scaled, parts }] : [];
      });
    })
    .sort((left, right) => right.score - left.score);
}

/** A ranked chunk with its text and position; undefined if it is gone. */
export async function toHit(
  { chunk, score, parts }: RankedChunk,
  texts: ChunkTexts,
  similarity: number | null,
): Promise<Hit | undefined> {
  const source = await texts.findSource(chunk.source);
  const text = await texts.read(chunk);
  if (!source || text === undefined) return undefined;
  const base: HitBase = { text, at: chunk.at, score, parts, similarity };
  const { seq, part, from, to, author, speaker } = chunk;
  if (source.kind === "session") {
    const session = source.name;
    return {
      kind: "session",
      session,
      entry: formatEntryId(session, seq),
      seq,
      part,
      from,
      to,
      author,
      speaker,
      ...base,
    };
  }
  const whole = (await texts.readWhole(chunk)) ?? "";
  return { kind: "file", path: source.name, from, to, lines: findLineNumbers(whole, { from, to }), ...base };
}

/** Share of the question's weight that the chunks together contain; rare words weigh more. */
function computeCoverage(
  terms: readonly string[],
  chunks: readonly StoredChunk[],
  { statistics }: Pick<RankContext, "statistics">,
): number {
  const present = new Set(chunks.flatMap((chunk) => chunk.terms));
  let all = 0;
  let covered = 0;
  for (const term of terms) {
    const weight = computeWeight(term, statistics);
    all += weight;
    if (present.has(term)) covered += weight;
  }
  return all > 0 ? covered / all : 0;
}

/**
 * Share of the question's content in the best chunks, or the similarity of the first chunk if that is higher, from 0 to
 * 1.
 */
export function computeCertainty(
  terms: readonly string[],
  best: readonly RankedChunk[],
  { turns, files }: CandidateSet,
  context: Pick<RankContext, "statistics">,
): number {
  const first = best[0]?.chunk.number;
  const chunks = first === undefined ? [] : [...turns, ...files].flatMap((own) => own.chunks);
  const similarity = chunks.find(({ id }) => id === first)?.similarity ?? 0;
  const coverage = computeCoverage(
    terms,
    best.map(({ chunk }) => chunk),
    context,
  );
  return Math.min(1, Math.max(coverage, similarity));
}

/**
 * Probability that the best hits answer the question: a logistic function of the share of the question in the first and
 * in the best three, and of the first one's similarity. Fitted on questions that a store can and cannot answer; see
 * docs/internals/ranking.md.
 */
export function estimateCertainty(
  terms: readonly string[],
  best: readonly RankedChunk[],
  similarity: number | null,
  context: Pick<RankContext, "statistics">,
): number {
  if (best.length === 0) return 0;
  const coverageOf = (hits: readonly RankedChunk[]) =>
    computeCoverage(
      terms,
      hits.map(({ chunk }) => chunk),
      context,
    );
  const first = coverageOf(best.slice(0, 1));
  const evidence = 2.2 * first + 2.4 * coverageOf(best) + 1.2 * Math.max(0, similarity ?? first);
  return 1 / (1 + Math.exp(2.9 - evidence));
}

/** The weight of those question terms that occur at all: "go on" has almost none, a name or two have much. */
export function computeSpecificity(
  terms: readonly string[],
  { statistics }: Pick<RankContext, "statistics">,
): number {
  let sum = 0;
  for (const term of terms) if (statistics.frequencyOf(term) > 0) sum += computeWeight(term, statistics);
  return sum;
}

/** Rare words weigh more. The minimum total prevents every word from looking common among a few chunks. */
function computeWeight(term: string, statistics: RankContext["statistics"]): number {
  const total = Math.max(MIN_CHUNKS, statistics.chunks);
  const frequency = statistics.frequencyOf(term);
  return Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
}
