import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { loadStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import type { ChildTask } from "../../child-job.ts";
import { ROOT_FOLDER } from "../../corpus-files.ts";
import { toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type HeldOutPair, placesOf, textSearch } from "./rank-of-partner.ts";

interface KindAnswer {
  readonly kind: string;
  readonly pairs: number;
  readonly found: number;
  readonly foundByText: number;
}

/** Share of held-out pairs whose partner is among the ten nearest of its kind, by vectors and by text search. */
export const findPartners: ChildTask<string, readonly KindAnswer[]> = async function findPartners(file) {
  const kinds = new Map<string, HeldOutPair[]>();
  for (const line of gunzipSync(readFileSync(file)).toString("utf8").trimEnd().split("\n")) {
    const pair = JSON.parse(line) as HeldOutPair & { kind: string; lang: string };
    const kind = `${pair.kind}/${pair.lang}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), pair]);
  }
  const embedder = loadStaticEmbedder();
  const byVectors = (texts: readonly string[]) => {
    const vectors = embedder.embed(texts);
    return (question: string) => {
      const [asked] = embedder.embed([question]) as [Float32Array];
      return Float32Array.from(vectors, (vector) => dot(asked, vector));
    };
  };
  return [...kinds].map(([kind, pairs]) => ({
    kind,
    pairs: pairs.length,
    found: shareInFirst(placesOf(pairs, byVectors)),
    foundByText: shareInFirst(placesOf(pairs, textSearch)),
  }));
};

const FIRST = 10;

function shareInFirst(places: readonly number[]): number {
  return places.filter((place) => place < FIRST).length / places.length;
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let axis = 0; axis < left.length; axis++) sum += (left[axis] as number) * (right[axis] as number);
  return sum;
}

/** Recall of the bundled embedder on held-out pairs, compared with plain BM25. */
export const heldOut: Measurement = {
  name: "held-out",
  async *run(bench) {
    const train = process.env.LONGHAUL_DATA
      ? join(process.env.LONGHAUL_DATA, "../train")
      : join(ROOT_FOLDER, "../shared/train");
    const file = join(train, "heldout.jsonl.gz");
    if (!existsSync(file)) {
      bench.note("Left out held-out: no LONGHAUL_DATA and no shared/train beside the repository.");
      return;
    }
    const answers = await bench.child("finding partners", import.meta.url, findPartners, file);
    for (const { kind, pairs, found, foundByText } of [...answers].sort((x, y) => y.pairs - x.pairs)) {
      yield toRow({
        id: `embedder.heldout.${kind.replace("/", ".")}`,
        value: found,
        unit: `R@10 of ${pairs}`,
        beside: "BM25",
        besideValue: foundByText,
      });
    }
  },
};
