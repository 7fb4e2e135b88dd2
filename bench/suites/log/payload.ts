import { zstdCompressSync } from "node:zlib";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { findDataFolder, realPieces } from "../../real-strings.ts";
import { toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

interface Plan {
  readonly messages: number;
  readonly transcripts: number;
}

interface Packing {
  /** Average compression ratio of a message with zstd. */
  readonly corpus: number;
  readonly real: number | null;
}

/** Compression ratio of the bench's messages, and of real ones of the same size. */
export async function packMessages({ messages, transcripts }: Plan, place: ChildPlace): Promise<Packing> {
  const corpus = openCorpus(place.corpusFolder);
  const dataFolder = findDataFolder();
  const made = corpus.messages(0, messages).map(({ text }) => Buffer.from(text));
  return {
    corpus: meanRatio(made),
    real: dataFolder === undefined ? null : meanRatio(realPieces(dataFolder, transcripts)),
  };
}

function meanRatio(pieces: Iterable<Buffer>): number {
  let sum = 0;
  let count = 0;
  for (const piece of pieces) {
    sum += piece.length / zstdCompressSync(piece).length;
    count++;
  }
  return sum / count;
}

/** Shows that the bench's messages are as hard to compress as real ones. */
export const payload: Measurement = {
  name: "payload",
  async *run(bench) {
    const plan = bench.isQuick
      ? { messages: 500, transcripts: 2 }
      : { messages: 20_000, transcripts: Number.MAX_SAFE_INTEGER };
    const packing = await bench.child("packing", import.meta.url, packMessages, plan);
    const row = { id: "payload.zstd", value: packing.corpus, unit: "times smaller" };
    if (packing.real === null) {
      bench.note("No real transcripts here to compare the messages with (LONGHAUL_DATA); skipped.");
      yield toRow(row);
    } else {
      yield toRow({ ...row, beside: "real transcripts, same sizes", besideValue: packing.real });
    }
  },
};
