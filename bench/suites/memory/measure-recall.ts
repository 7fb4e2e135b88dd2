import { join } from "node:path";
import { findCandidates } from "../../../src/recall/index/find-candidates.ts";
import { TextIndex } from "../../../src/recall/index/text-index.ts";
import { Memory } from "../../../src/recall/memory.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { splitText } from "../../../src/recall/text/split-text.ts";
import { quantizeVector } from "../../../src/recall/vectors/quantize.ts";
import { VectorIndex } from "../../../src/recall/vectors/vector-index.ts";
import type { ChildTask } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { settledMemory } from "../../measure/memory.ts";
import { percentile } from "../../measure/percentile.ts";
import { measureReadableLags } from "../../measure/readable-lag.ts";
import { appendMessages, cpuMs, openMemory, questions } from "./open-memory.ts";
import { PlainHybrid } from "./plain-hybrid.ts";

/** Length of each candidate list. */
const LIMIT = 60;
const LAG_ROUNDS = 40;

/** Input of the indexing measurement. */
export interface IndexQuestion {
  readonly folder: string;
  readonly messages: number;
}

/** Results of the indexing measurement. */
export interface IndexAnswer {
  readonly textChunksPerSecond: number;
  readonly embeddedChunksPerSecond: number;
  readonly bytesPerByte: number;
}

/** Input of the recall measurement. */
export interface RecallQuestion extends IndexQuestion {
  readonly recalls: number;
  /** Whether to build and query the plain stack too. */
  readonly hasPeer: boolean;
}

/** Results of the recall measurement, in CPU milliseconds. */
export interface RecallAnswer {
  readonly recall: { readonly p50: number; readonly p99: number };
  /** Recall without ranking; and search for chunk numbers only, which is all the plain stack does. */
  readonly candidates: { readonly p50: number; readonly p99: number };
  readonly search: { readonly p50: number; readonly p99: number };
  readonly peer: { readonly p50: number } | null;
  readonly rssBytes: number;
  /** Milliseconds from an acknowledged append until a recall has found it. */
  readonly readable: { readonly p50: number; readonly p99: number };
}

/** Indexes messages, first for text search, then with vectors. */
export const measureIndexing: ChildTask<IndexQuestion, IndexAnswer> = async function measureIndexing(
  { folder, messages },
  place,
) {
  const { store, log, memory, close } = await openMemory(folder);
  const bytes = await appendMessages(log, openCorpus(place.corpusFolder), messages);
  const words = new Memory({ log, embedder: undefined });
  const indexing = await cpuMs(() => words.catchUp());
  await words.close();
  const embedding = await cpuMs(() => memory.catchUp());
  const { chunks: count } = await store.memory.totals();
  await store.vacuum();
  const bytesPerByte = (await store.memory.sizeBytes()) / bytes;
  await close();
  return {
    textChunksPerSecond: (count / indexing) * 1_000,
    embeddedChunksPerSecond: (count / (indexing + embedding)) * 1_000,
    bytesPerByte,
  };
};

/** Recalls parts of messages in a separate process, and queries the plain stack with the same questions. */
export const measureRecall: ChildTask<RecallQuestion, RecallAnswer> = async function measureRecall(
  { folder, messages, recalls, hasPeer },
  place,
) {
  const corpus = openCorpus(place.corpusFolder);
  const { memory, store, log, embedder, close } = await openMemory(folder);
  const asked = questions(corpus, messages, recalls);
  for (const question of asked.slice(0, 20)) await memory.recall(question);
  const times: number[] = [];
  for (const question of asked) times.push(await cpuMs(() => memory.recall(question)));
  const { rssBytes } = await settledMemory();
  const text = new TextIndex(store.memory);
  const number = await store.memory.vectors.embedder(embedder.id, embedder.dimensions);
  const vectors = new VectorIndex(store.memory, { embedder: number, dimensions: embedder.dimensions }, 1e9);
  await text.refresh();
  await vectors.refresh();
  const { chunks: total } = await store.memory.totals();
  const ask = (question: string) => {
    const [vector = new Float32Array()] = embedder.embed([question]);
    return { vector, terms: [...new Set(analyzeText(question))], filter: undefined };
  };
  const collect = (question: string) => findCandidates({ store: store.memory, text, vectors }, ask(question));
  const search = async (question: string) => {
    const { terms, vector } = ask(question);
    await text.search(terms, undefined, LIMIT, total);
    await vectors.search(vector, (chunk) => text.sourceOf(chunk), undefined, LIMIT);
  };
  for (const question of asked.slice(0, 20)) {
    await collect(question);
    await search(question);
  }
  const [candidates, searches, peerTimes]: number[][] = [[], [], []];
  const peer = hasPeer ? buildPeer(join(place.folder, "peer.db"), corpus, messages, embedder) : undefined;
  for (const question of asked) {
    candidates?.push(await cpuMs(() => collect(question)));
    searches?.push(await cpuMs(() => search(question)));
    if (peer) peerTimes?.push(await cpuMs(() => peer.search(question, ask(question).vector, LIMIT)));
  }
  peer?.close();
  const lags = await measureReadableLags(log, memory, LAG_ROUNDS);
  await close();
  return {
    recall: spread(times),
    candidates: spread(candidates ?? []),
    search: spread(searches ?? []),
    peer: peer ? { p50: percentile(peerTimes ?? [], 0.5) } : null,
    rssBytes,
    readable: spread(lags),
  };
};

function spread(times: readonly number[]): { p50: number; p99: number } {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

function buildPeer(
  path: string,
  corpus: Corpus,
  messages: number,
  embedder: { readonly dimensions: number; embed(texts: readonly string[]): Float32Array[] },
): PlainHybrid {
  const peer = new PlainHybrid(path, embedder.dimensions);
  let id = 1;
  for (let from = 0; from < messages; from += 200) {
    const texts = corpus
      .messages(from, Math.min(messages, from + 200))
      .flatMap(({ text }) => splitText(text).map((range) => text.slice(range.from, range.to)));
    const vectors = embedder.embed(texts);
    peer.add(
      texts.map((text, index) => ({
        id: id++,
        text,
        vector: quantizeVector(vectors[index] as Float32Array),
      })),
    );
  }
  return peer;
}
