import { findCandidates } from "../../../src/recall/index/find-candidates.ts";
import { TextIndex } from "../../../src/recall/index/text-index.ts";
import { listSearchTerms } from "../../../src/recall/index-search.ts";
import { computeFeatures } from "../../../src/recall/rank/compute-features.ts";
import { RANK_FEATURES } from "../../../src/recall/rank/feature-list.ts";
import { parseQuery, withoutSpeakers } from "../../../src/recall/rank/query.ts";
import { parseTimeWindows } from "../../../src/recall/rank/time-window.ts";
import { listWholeTerms } from "../../../src/recall/rare-words.ts";
import { VectorIndex } from "../../../src/recall/vectors/vector-index.ts";
import type { Embedding } from "./in-memory-scope.ts";
import type { Item, Question } from "./question.ts";
import { type RememberedItems, rememberItems } from "./remember-items.ts";

/** A question for fitting: a row of features for each candidate that the index supplies. */
export interface Example {
  readonly set: string;
  readonly group: string;
  /** Whether the conversation is between people. */
  readonly isPeople: boolean;
  readonly rows: number;
  /** Row by row. */
  readonly values: Float32Array;
  /** Rows that answer. */
  readonly gold: readonly number[];
  /** Number of all answers, candidates or not. */
  readonly goldCount: number;
}

/** Parts of the index of one scope. */
interface ExampleScope {
  readonly items: readonly Item[];
  readonly remembered: RememberedItems;
  readonly speakers: readonly string[];
  readonly deps: Parameters<typeof findCandidates>[0];
}

/** The features of every candidate of every question; questions of one scope must be adjacent. */
export async function buildExamples(
  questions: readonly Question[],
  embedding: Embedding | null,
): Promise<Example[]> {
  let scope: ExampleScope | undefined;
  const examples: Example[] = [];
  for (const question of questions) {
    if (scope?.items !== question.items) {
      await scope?.remembered.close();
      scope = await openScope(question.items, embedding);
    }
    examples.push(await buildExample(question, scope, embedding));
  }
  await scope?.remembered.close();
  return examples;
}

async function openScope(items: readonly Item[], embedding: Embedding | null): Promise<ExampleScope> {
  const remembered = await rememberItems(items);
  const store = remembered.log.store.memory;
  const text = new TextIndex(store);
  await text.refresh();
  const vectors =
    embedding &&
    new VectorIndex(
      store,
      {
        embedder: await store.vectors.embedder(embedding.id, embedding.dimensions),
        dimensions: embedding.dimensions,
      },
      1 << 28,
    );
  await vectors?.refresh();
  return {
    items,
    remembered,
    speakers: [...new Set(items.flatMap(({ speaker }) => speaker ?? []))],
    deps: { store, text, vectors: vectors ?? undefined },
  };
}

async function buildExample(
  { set, group, text, askedAtMs, gold }: Question,
  { remembered, speakers, deps }: ExampleScope,
  embedding: Embedding | null,
): Promise<Example> {
  const nowMs = askedAtMs ?? remembered.endMs;
  const vector = embedding?.embed([withoutSpeakers(text, speakers)])[0];
  const { turns, chunks, sources, statistics } = await findCandidates(deps, {
    terms: listSearchTerms(text),
    wholeTerms: listWholeTerms(text),
    windows: parseTimeWindows(text, nowMs),
    filter: undefined,
    ...(vector && { vector }),
  });
  const context = { statistics, nowMs, speakers, vectors: embedding?.vectors ?? null };
  const { features } = computeFeatures(parseQuery(text, context), turns, context);
  const values = new Float32Array(turns.length * RANK_FEATURES.length);
  for (const [column, feature] of RANK_FEATURES.entries())
    for (let row = 0; row < turns.length; row++)
      values[row * RANK_FEATURES.length + column] = features[feature][row] as number;
  const answers = new Set(gold);
  const found = turns.flatMap(({ id, session }, row) => {
    const place = remembered.placeOf(sources.get(session)?.name ?? "", chunks.get(id)?.seq ?? 0);
    return place !== undefined && answers.has(place) ? [row] : [];
  });
  const isPeople = speakers.length > 0;
  return { set, group, isPeople, rows: turns.length, values, gold: found, goldCount: answers.size };
}
