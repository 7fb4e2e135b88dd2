import { loadStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import type { ChildTask } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { atMost, type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

const TEXT_CHARACTERS = 860;
const MIN_TEXTS: Goal = { text: ">= 4000 texts/s", isMet: (value) => value >= 4_000 };

interface Rates {
  readonly embedded: number;
  readonly tokenized: number;
}

/** CPU time of the first load in a fresh process. */
export const measureLoad: ChildTask<null, number> = async function measureLoad() {
  return cpuMs(() => void loadStaticEmbedder());
};

/** Texts per CPU second, fully embedded and only tokenized. */
export const measureRates: ChildTask<{ texts: number; rounds: number }, Rates> = async function measureRates(
  { texts, rounds },
  { corpusFolder },
) {
  const embedder = loadStaticEmbedder();
  const list = textsOf(corpusFolder, texts);
  const rate = (work: () => void) => list.length / (cpuMs(work) / 1_000);
  const rates = await alternate(rounds, {
    embedded: () => rate(() => void embedder.embed(list)),
    tokenized: () => rate(() => list.forEach((text) => void embedder.tokensOf(text))),
  });
  return { embedded: median(rates.embedded), tokenized: median(rates.tokenized) };
};

function textsOf(corpusFolder: string, count: number): string[] {
  const corpus = openCorpus(corpusFolder);
  const texts: string[] = [];
  let text = "";
  for (let index = 0; texts.length < count; index++) {
    text += `${corpus.message(index).text} `;
    while (text.length >= TEXT_CHARACTERS && texts.length < count) {
      texts.push(text.slice(0, TEXT_CHARACTERS));
      text = text.slice(TEXT_CHARACTERS);
    }
  }
  return texts;
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Load and embedding speed of the bundled embedder, in CPU time on one core. */
export const speed: Measurement = {
  name: "speed",
  async *run(bench) {
    const loads: number[] = [];
    for (let round = 0; round < (bench.isQuick ? 3 : 7); round++)
      loads.push(await bench.child("loading", import.meta.url, measureLoad, null));
    yield toRow({ id: "embedder.load", value: median(loads), unit: "ms of CPU", goal: atMost(100, "ms") });
    const input = bench.isQuick ? { texts: 2_000, rounds: 3 } : { texts: 10_000, rounds: 7 };
    const { embedded, tokenized } = await bench.child("embedding", import.meta.url, measureRates, input);
    yield toRow({
      id: "embedder.texts",
      value: embedded,
      unit: "texts/s of CPU",
      beside: "tokenizing alone",
      besideValue: tokenized,
      goal: MIN_TEXTS,
    });
  },
};
