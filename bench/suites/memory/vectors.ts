import { join } from "node:path";
import { loadStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { splitText } from "../../../src/recall/text/split-text.ts";
import { TopList } from "../../../src/recall/top-list.ts";
import { quantizeVector } from "../../../src/recall/vectors/quantize.ts";
import { Scanner } from "../../../src/recall/vectors/scanner.ts";
import type { ChildTask } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { percentile } from "../../measure/percentile.ts";
import { type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { cpuMs, questions } from "./open-memory.ts";
import { PlainHybrid } from "./plain-hybrid.ts";

interface Question {
  readonly size: number;
  readonly queries: number;
}

interface Answer {
  readonly scanMs: number;
  readonly peerMs: number;
  /** Share of the ten nearest exact vectors that the scan finds. */
  readonly kept: number;
}

const SLAB = 8_192;
const NEAREST = 10;
/** Maximum number of chunks with exact vectors. */
const MAX_EXACT = 100_000;

/** Nearest vectors by our scan and by sqlite-vec's, over the same bytes. */
export const race: ChildTask<Question, Answer> = async function race({ size, queries }, place) {
  const corpus = openCorpus(place.corpusFolder);
  const embedder = loadStaticEmbedder();
  const { dimensions } = embedder;
  const scanner = new Scanner(dimensions, SLAB);
  const peer = new PlainHybrid(join(place.folder, "peer.db"), dimensions);
  const addresses: number[] = [];
  const exact: Float32Array[] = [];
  let count = 0;
  for (let message = 0; count < size; message += 400) {
    const texts = corpus
      .messages(message, message + 400)
      .flatMap(({ text }) => splitText(text).map(({ from, to }) => text.slice(from, to)))
      .slice(0, size - count);
    const vectors = embedder.embed(texts);
    const items = vectors.map((vector, index) => ({ id: count + index, vector: quantizeVector(vector) }));
    for (const { id, vector } of items) {
      if (id % SLAB === 0) addresses.push(scanner.reserve(SLAB));
      scanner.put((addresses.at(-1) as number) + (id % SLAB) * dimensions, vector);
    }
    peer.add(items);
    if (count < MAX_EXACT) exact.push(...vectors);
    count += texts.length;
  }
  const search = (vector: Float32Array): number[] => {
    scanner.setQuery(quantizeVector(vector));
    const top = new TopList(NEAREST);
    for (const [slab, address] of addresses.entries()) {
      const products = scanner.scan(address, Math.min(SLAB, size - slab * SLAB));
      for (let index = 0; index < products.length; index++)
        top.offer(slab * SLAB + index, products[index] as number);
    }
    return top.getBest().map(({ chunk }) => chunk);
  };
  const asked = embedder.embed(questions(corpus, Math.floor(size / 5), queries));
  const [scans, peers]: [number[], number[]] = [[], []];
  let kept = 0;
  search(asked[0] as Float32Array);
  for (const vector of asked) {
    scans.push(await cpuMs(() => search(vector)));
    peers.push(await cpuMs(() => peer.nearest(vector, NEAREST)));
    if (size > MAX_EXACT) continue;
    const top = new TopList(NEAREST);
    for (const [index, other] of exact.entries()) top.offer(index, dot(vector, other));
    const best = new Set(top.getBest().map(({ chunk }) => chunk));
    kept += search(vector).filter((chunk) => best.has(chunk)).length / NEAREST;
  }
  peer.close();
  return { scanMs: percentile(scans, 0.5), peerMs: percentile(peers, 0.5), kept: kept / asked.length };
};

function dot(left: Float32Array, right: Float32Array): number {
  let product = 0;
  for (let axis = 0; axis < left.length; axis++) product += (left[axis] as number) * (right[axis] as number);
  return product;
}

const tenth: Goal = { text: "<= 0.1 of beside", isMet: (_, ratio) => (ratio === null ? null : ratio <= 0.1) };
const most: Goal = { text: ">= 0.95", isMet: (value) => value >= 0.95 };

/** The vector scan compared with sqlite-vec's, and its agreement with the exact order. */
export const vectors: Measurement = {
  name: "vectors",
  async *run(bench) {
    for (const size of bench.isQuick ? [10_000] : [10_000, 100_000, 1_000_000]) {
      const question = { size, queries: size > 100_000 ? 12 : 40 };
      const { scanMs, peerMs, kept } = await bench.child(`${size} vectors`, import.meta.url, race, question);
      const id = `vectors.${size / 1_000}k`;
      yield toRow({
        id: `${id}.scan`,
        value: scanMs,
        unit: "ms of CPU",
        beside: "sqlite-vec scan",
        besideValue: peerMs,
        goal: tenth,
      });
      if (size <= MAX_EXACT)
        yield toRow({ id: `${id}.kept`, value: kept, unit: "of the 10 nearest", goal: most });
    }
  },
};
