import type { Kernel, Session } from "../../src/kernel/index.ts";
import { imageDigest, imagesOf } from "../conversation/images.ts";
import { formatBytes } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";
import type { LastImage } from "./append.ts";

/** Time to read an image. */
export interface ReadImageFigures {
  readonly readMs: number;
}

/** Reads the last image and verifies it; undefined if there was none. */
export async function readImage(
  kernel: Kernel,
  session: Session,
  last: LastImage | undefined,
  { length, terminal }: Tour,
): Promise<ReadImageFigures | undefined> {
  const entry = last && (await session.entry(last.entry));
  const image = entry?.kind === "message" ? imagesOf(entry.message).at(-1) : undefined;
  if (!last || !image) return undefined;
  const { ms: readMs } = await timed(async () => {
    // Reading to the end verifies the bytes against the digest.
    for await (const _chunk of kernel.blobs.stream(image.digest));
  });
  terminal.fact("an image, verified", `${formatBytes(image.sizeBytes)} of ${image.mime}`, readMs);
  expect(
    image.digest === (await imageDigest(last.index, length.imageBytes)),
    "an image is stored byte for byte as it was made",
  );
  return { readMs };
}
