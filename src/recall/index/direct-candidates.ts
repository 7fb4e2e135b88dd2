import type { MemoryStore } from "../../log/store/memory-store.ts";
import type { TimeWindow } from "../rank/time-window.ts";
import type { SourceFilter } from "../scored-chunk.ts";
import type { VectorIndex } from "../vectors/vector-index.ts";
import type { TextIndex } from "./text-index.ts";

/** Number of the newest rules and preferences to compare with the question, and of those that become candidates. */
const MAX_STANDING = 512;
const STANDING_CHUNKS = 12;
/** Maximum number of chunks in a period; a longer period does not tell them apart. */
const MAX_IN_PERIOD = 2_000;
const PERIOD_CHUNKS = 20;

interface DirectDeps {
  readonly store: Pick<MemoryStore, "standing" | "inPeriod">;
  readonly text: Pick<TextIndex, "sourceOf">;
  readonly vectors: Pick<VectorIndex, "similarities"> | undefined;
}

interface DirectQuery {
  readonly vector?: ArrayLike<number>;
  readonly windows?: readonly TimeWindow[];
  readonly filter: SourceFilter;
}

/**
 * Chunks that become candidates without a word of the question: rules and preferences that users stated, and content
 * of the periods that the question names. The ones closest to the question are chosen; without vectors, the newest.
 */
export async function findDirectChunks(deps: DirectDeps, query: DirectQuery): Promise<readonly number[]> {
  const { store, text } = deps;
  const { filter } = query;
  const isOwn = (number: number) => !filter || filter[text.sourceOf(number)] === 1;
  const standing = await store.standing(MAX_STANDING);
  const chosen = pickClosest(deps, query, standing.filter(isOwn), STANDING_CHUNKS);
  for (const { fromMs, toMs } of query.windows ?? []) {
    const inside = await store.inPeriod(Math.floor(fromMs), Math.ceil(toMs), MAX_IN_PERIOD + 1);
    if (inside.length > MAX_IN_PERIOD) continue;
    chosen.push(...pickClosest(deps, query, inside.filter(isOwn), PERIOD_CHUNKS));
  }
  return chosen;
}

function pickClosest(
  { vectors }: DirectDeps,
  { vector }: DirectQuery,
  own: readonly number[],
  count: number,
): number[] {
  if (!vectors || !vector || own.length <= count) return own.slice(0, count);
  const similarities = vectors.similarities(vector, own);
  return own
    .map((number, index) => ({ number, similarity: similarities[index] ?? 0 }))
    .sort((left, right) => right.similarity - left.similarity)
    .slice(0, count)
    .map(({ number }) => number);
}
