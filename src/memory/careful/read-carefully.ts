import type { MemoryStore, StoredChunk } from "../../store/memory-store.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import type { RankedChunk } from "../make-hits.ts";
import { buildCandidatePassage, type CandidateExcerpt } from "./candidate-passage.ts";
import type { CandidateReader } from "./candidate-reader.ts";
import { orderByBothStages } from "./mix-scores.ts";

/** Services for reading candidates. */
export interface ReadingDeps {
  readonly reader: CandidateReader;
  readonly store: Pick<MemoryStore, "around">;
  readonly texts: Pick<ChunkTexts, "readWhole">;
}

/** Number of candidates that are read; those after them keep their places. */
const MAX_READ_CANDIDATES = 24;
/** Chunks of a turn and of its neighbors that are looked up to find the turn before. */
const MAX_CHUNKS_AROUND = 4;

/**
 * The second stage of a recall: reads the question and each of the best candidates together and orders them by both
 * stages. The scores stay those of the places, so that they fall from the first candidate to the last.
 */
export async function readCarefully(
  { reader, store, texts }: ReadingDeps,
  question: string,
  ranked: readonly RankedChunk[],
  signal: AbortSignal | undefined,
): Promise<RankedChunk[]> {
  const best = ranked.slice(0, MAX_READ_CANDIDATES);
  if (best.length < 2) return [...ranked];
  const turns = best.filter(({ chunk }) => chunk.author !== "none");
  const around = await store.around(
    turns.map(({ chunk }) => ({ number: chunk.number, reach: 1 })),
    MAX_CHUNKS_AROUND,
  );
  const chunkOf = new Map(around.map((chunk) => [`${chunk.source} ${chunk.turn}`, chunk]));
  const passages: string[] = [];
  for (const { chunk } of best) {
    const before = chunk.author === "none" ? undefined : chunkOf.get(`${chunk.source} ${chunk.turn - 1}`);
    passages.push(buildCandidatePassage(await readExcerpt(texts, chunk, before)));
  }
  const read = await reader.read(question, passages, signal && { signal });
  const order = orderByBothStages(
    best.map(({ score }) => score),
    read,
  );
  const ordered = order.map((index, place): RankedChunk => {
    const one = best[index] as RankedChunk;
    return {
      ...one,
      score: best[place]?.score ?? one.score,
      parts: { ...one.parts, reading: read[index] ?? 0 },
    };
  });
  return [...ordered, ...ranked.slice(MAX_READ_CANDIDATES)];
}

async function readExcerpt(
  texts: ReadingDeps["texts"],
  chunk: StoredChunk,
  before: StoredChunk | undefined,
): Promise<CandidateExcerpt> {
  const text = (await texts.readWhole(chunk)) ?? "";
  const said = before && (await texts.readWhole(before));
  return {
    author: nameAuthor(chunk),
    text,
    from: Math.min(chunk.from, text.length),
    to: Math.min(chunk.to, text.length),
    before: before && said ? { author: nameAuthor(before), text: said } : undefined,
  };
}

function nameAuthor({ speaker, author }: StoredChunk): string {
  return speaker ?? (author === "none" ? "file" : author);
}
