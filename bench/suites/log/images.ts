import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { folderBytes } from "../../measure/folder-bytes.ts";
import { collectGarbage, megabytes, peakRssBytes, settledMemory } from "../../measure/memory.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { contestantOf } from "./contestants.ts";
import { IMAGE_BYTES, makeImage } from "./image.ts";
import { counted } from "./sizes.ts";

interface Plan {
  readonly name: string;
  readonly count: number;
  /** Whether each image differs from all others. */
  readonly areDistinct: boolean;
}

/** Cost of storing images. */
export interface ImagesKept {
  readonly seconds: number;
  readonly heapGrowthBytes: number;
  /** The largest RSS of the run, relative to its start. */
  readonly peakGrowthBytes: number;
  readonly onDiskBytes: number;
}

/** Attaches images, one awaited at a time, each generated just before. */
export async function keepImages({ name, count, areDistinct }: Plan, place: ChildPlace): Promise<ImagesKept> {
  const folder = join(place.folder, "images");
  const before = await settledMemory();
  const startedMs = performance.now();
  const conversation = await contestantOf(name).open(folder);
  if (!conversation.appendImage) throw new Error(`${name} takes no images.`);
  for (let number = 0; number < count; number++) {
    await conversation.appendImage(makeImage(areDistinct ? number : 0), "image/png");
    // Otherwise the peak depends on when V8 collects the bench's own images.
    collectGarbage();
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = await settledMemory();
  await conversation.close();
  return {
    seconds,
    heapGrowthBytes: after.heapBytes - before.heapBytes,
    peakGrowthBytes: peakRssBytes() - before.rssBytes,
    onDiskBytes: name === "nothing" ? 0 : folderBytes(folder),
  };
}

/** Distinct images stored by a contestant; runs once for each name and count. */
export function keepDistinct(bench: Bench, name: string, count: number): Promise<ImagesKept> {
  const plan = { name, count, areDistinct: true };
  return bench.once(`images ${name} ${count}`, () =>
    bench.child(`${name}, ${counted(count)} images`, import.meta.url, keepImages, plan),
  );
}

/** Number of images in the stress test. */
export function fewImages({ isQuick }: Bench): number {
  return isQuick ? 40 : 100;
}

/** Memory that a contestant needed for images, without the memory for generating them. */
export async function netPeakBytes(bench: Bench, kept: ImagesKept, count: number): Promise<number> {
  return kept.peakGrowthBytes - (await keepDistinct(bench, "nothing", count)).peakGrowthBytes;
}

/** Many different images: disk use, and memory compared with a process that only generates them. */
export const imagesDistinct: Measurement = {
  name: "images.distinct",
  async *run(bench) {
    const count = bench.isQuick ? 40 : 1_000;
    const ours = await keepDistinct(bench, "longhaul", count);
    yield toRow({
      id: "images.distinct.rss",
      value: megabytes(await netPeakBytes(bench, ours, count)),
      unit: `MB for ${counted(count)}`,
      goal: atMost(50, "MB"),
    });
    yield toRow({
      id: "images.distinct.disk",
      value: ours.onDiskBytes / (count * IMAGE_BYTES),
      unit: "per decoded byte",
      goal: atMost(1.02, ""),
    });
  },
};

/** The same image many times. */
export const imagesIdentical: Measurement = {
  name: "images.identical",
  async *run(bench) {
    const plan = { name: "longhaul", count: bench.isQuick ? 10 : 100, areDistinct: false };
    const { onDiskBytes } = await bench.child("longhaul", import.meta.url, keepImages, plan);
    yield toRow({
      id: "images.identical.disk",
      value: onDiskBytes / IMAGE_BYTES,
      unit: `images for ${counted(plan.count)}`,
      goal: atMost(1.02, "images"),
    });
  },
};

/** Images compared with pi, which keeps them as base64 in memory and in its file. */
export const imagesBesidePi: Measurement = {
  name: "images.pi",
  async *run(bench) {
    const count = fewImages(bench);
    const theirCount = bench.isQuick ? 10 : count;
    const ours = await keepDistinct(bench, "longhaul", count);
    const theirs = await bench.beside("pi", () => keepDistinct(bench, "pi", theirCount));
    const beside = `pi, ${counted(theirCount)} images`;
    yield toRow({
      id: "images.rss.pi",
      value: megabytes(await netPeakBytes(bench, ours, count)),
      unit: `MB for ${counted(count)}`,
      beside,
      besideValue: theirs && megabytes(await netPeakBytes(bench, theirs, count)),
    });
    yield toRow({
      id: "images.disk.pi",
      value: ours.onDiskBytes / (count * IMAGE_BYTES),
      unit: "per decoded byte",
      beside,
      besideValue: theirs && theirs.onDiskBytes / (theirCount * IMAGE_BYTES),
    });
  },
};
