import { createHash } from "node:crypto";
import type { Digest } from "../../src/kernel/faces/log.ts";
import type { BlobPart, DataPart, Message, Part } from "../../src/kernel/index.ts";
import { Random } from "./random.ts";

const PNG_SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const CHUNK_BYTES = 64 * 1024;

/** A screenshot as a stream: a complete one is never in memory. */
export function imagePart(index: number, sizeBytes: number): DataPart {
  return { type: "data", name: `screenshot-${index}.png`, mime: "image/png", data: png(index, sizeBytes) };
}

/** The expected digest of an image. */
export async function imageDigest(index: number, sizeBytes: number): Promise<Digest> {
  const hash = createHash("sha256");
  for await (const chunk of png(index, sizeBytes)) hash.update(chunk);
  return hash.digest("hex");
}

/** The images of a message, including those in tool results. */
export function imagesOf(message: Message): readonly BlobPart[] {
  return message.parts
    .flatMap((part): readonly Part[] => (part.type === "tool-result" ? part.output : [part]))
    .filter((part): part is BlobPart => part.type === "blob" && part.of === undefined);
}

/**
 * A PNG signature followed by incompressible noise. All chunks reuse one buffer, so that the displayed memory is the
 * store's and not this generator's garbage.
 */
async function* png(seed: number, sizeBytes: number): AsyncGenerator<Uint8Array> {
  const random = new Random(seed);
  const noise = new Uint32Array(CHUNK_BYTES / 4);
  const bytes = new Uint8Array(noise.buffer);
  for (let made = 0; made < sizeBytes; made += CHUNK_BYTES) {
    for (let at = 0; at < noise.length; at++) noise[at] = random.bits();
    if (made === 0) bytes.set(PNG_SIGNATURE);
    yield bytes.subarray(0, Math.min(sizeBytes - made, CHUNK_BYTES));
  }
}
