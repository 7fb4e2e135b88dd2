import type { StoredChunk } from "../log/store/memory-store.ts";
import { formatEntryId } from "../model/entry.ts";
import { findLineNumbers } from "./files/file-chunks.ts";
import type { Hit, HitBase } from "./hit.ts";
import type { ChunkTexts } from "./index/chunk-texts.ts";
import type { CandidateSet } from "./index/find-candidates.ts";
import type { FileContext } from "./rank/file-features.ts";
import { type FileCandidate, rankFiles } from "./rank/rank-files.ts";
import { rankTurns } from "./rank/rank-turns.ts";
import type { RankContext } from "./rank/turn-candidate.ts";

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
    const place = { session: source.name, entry: formatEntryId(source.name, seq), seq, part, from, to };
    return { kind: "session", ...place, author, speaker, ...base };
  }
  const whole = (await texts.readWhole(chunk)) ?? "";
  return { kind: "file", path: source.name, from, to, lines: findLineNumbers(whole, { from, to }), ...base };
}
