import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type MemoryStore, SEGMENT_CHUNKS } from "../../../src/log/store/memory-store.ts";
import { quantizeVector, toCosine } from "../../../src/recall/vectors/quantize.ts";
import { Scanner } from "../../../src/recall/vectors/scanner.ts";
import { VectorIndex } from "../../../src/recall/vectors/vector-index.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { proofRounds, proofTest, sizedTest } from "../../support/proof.ts";

const byte = fc.integer({ min: -127, max: 127 });

sizedTest("the scan gives the same sums as plain arithmetic, for any number of dimensions", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      fc.infiniteStream(byte),
      (steps, count, bytes) => {
        const dimensions = steps * 16;
        const take = (length: number) => Int8Array.from({ length }, () => bytes.next().value as number);
        const [query, vectors] = [take(dimensions), take(dimensions * count)];
        const scanner = new Scanner(dimensions, 16);
        const address = scanner.reserve(count);
        scanner.put(address, vectors);
        scanner.setQuery(query);
        const expected = Array.from({ length: count }, (_, index) =>
          query.reduce((sum, value, axis) => sum + value * (vectors[index * dimensions + axis] as number), 0),
        );
        expect([...scanner.scan(address, count)]).toEqual(expected);
      },
    ),
    { numRuns: proofRounds(60) },
  );
});

test("a scan of extreme components does not overflow", () => {
  const scanner = new Scanner(1_536, 4);
  const address = scanner.reserve(2);
  scanner.put(address, new Int8Array(1_536).fill(127));
  scanner.put(address + 1_536, new Int8Array(1_536).fill(-127));
  scanner.setQuery(new Int8Array(1_536).fill(127));
  expect([...scanner.scan(address, 2)]).toEqual([127 * 127 * 1_536, -127 * 127 * 1_536]);
});

/** A seeded number from -1 to 1. */
function random(seed: number): number {
  const mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) ^ Math.imul(seed, 0x297a2d39);
  return ((mixed ^ (mixed >>> 13)) | 0) / 2 ** 31;
}

/** Approximately Gaussian components. */
function vectorOf(seed: number, dimensions: number): number[] {
  return Array.from({ length: dimensions }, (_, axis) => {
    const from = seed * 4_099 + axis * 3;
    return random(from) + random(from + 1) + random(from + 2);
  });
}

proofTest("rounded vectors keep nearly all of the original order", () => {
  const dimensions = 128;
  const vectors = Array.from({ length: 3_000 }, (_, seed) => vectorOf(seed + 1, dimensions));
  const length = (vector: readonly number[]) => Math.hypot(...vector);
  let kept = 0;
  for (let round = 0; round < 10; round++) {
    const query = vectorOf(90_000 + round, dimensions);
    const exact = vectors.map((vector, index) => {
      const product = vector.reduce((sum, value, axis) => sum + value * (query[axis] as number), 0);
      return { index, cosine: product / length(vector) / length(query) };
    });
    const small = quantizeVector(query);
    const near = vectors.map((vector, index) => {
      const bytes = quantizeVector(vector);
      const product = bytes.reduce((sum, value, axis) => sum + value * (small[axis] as number), 0);
      return { index, cosine: toCosine(product, dimensions) };
    });
    expect(Math.abs((near[7]?.cosine ?? 0) - (exact[7]?.cosine ?? 0))).toBeLessThan(0.02);
    const top = (list: typeof exact) =>
      new Set(
        [...list]
          .sort((left, right) => right.cosine - left.cosine)
          .slice(0, 10)
          .map(({ index }) => index),
      );
    const best = top(exact);
    for (const index of top(near)) if (best.has(index)) kept++;
  }
  expect(kept).toBeGreaterThanOrEqual(95);
});

async function filled(
  count: number,
): Promise<{ store: MemoryStore; embedder: number; close: () => Promise<void> }> {
  const whole = await openSqliteStore({ path: ":memory:" });
  const store = whole.memory;
  const chunks = Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    turn: index + 1,
    part: 0,
    from: 0,
    to: 1,
    at: 1,
    author: "user" as const,
    traits: 0,
    turnLength: 1,
    hash: new Uint8Array(16),
    terms: ["t"],
  }));
  const { stamp } = await store.state();
  await store.add({
    source: { kind: "session", name: "s", version: "1", cursor: count },
    expected: undefined,
    stamp,
    chunks,
  });
  const embedder = await store.vectors.embedder("e", 32);
  await store.vectors.write(
    embedder,
    chunks.map((_, index) => ({ chunk: index + 1, vector: quantizeVector(vectorOf(index + 1, 32)) })),
  );
  await store.seal();
  await store.vectors.pack(embedder, 0);
  return { store, embedder, close: () => whole.close() };
}

test("vectors are searched alike in every storage state, and removed or filtered ones are not returned", async () => {
  const { store, embedder, close } = await filled(SEGMENT_CHUNKS + 100);
  const space = { embedder, dimensions: 32 };
  const held = new VectorIndex(store, space, 1e9);
  const passing = new VectorIndex(store, space, 1);
  await held.refresh();
  await passing.refresh();
  const query = vectorOf(50, 32);
  const everywhere = await held.search(query, () => 1, undefined, 20);
  expect(everywhere[0]?.chunk).toBe(50);
  expect(everywhere[0]?.score).toBeGreaterThan(0.98);
  expect(everywhere.map(({ score }) => score)).toEqual(
    everywhere.map(({ score }) => score).sort((a, b) => b - a),
  );
  expect((await held.search(vectorOf(SEGMENT_CHUNKS + 50, 32), () => 1, undefined, 1))[0]?.chunk).toBe(
    SEGMENT_CHUNKS + 50,
  );
  const first = (await passing.search(query, () => 1, undefined, 20)).filter(
    ({ chunk }) => chunk < SEGMENT_CHUNKS,
  );
  expect(first).toEqual(everywhere.filter(({ chunk }) => chunk < SEGMENT_CHUNKS));
  const without = await held.search(query, (chunk) => (chunk === 50 ? 0 : 1), undefined, 5);
  expect(without.some(({ chunk }) => chunk === 50)).toBe(false);
  const filter = Uint8Array.from([0, 0, 1]);
  const even = await held.search(query, (chunk) => (chunk % 2 === 0 ? 2 : 1), filter, 5);
  expect(even.every(({ chunk }) => chunk % 2 === 0)).toBe(true);
  expect(held.similarities(query, [50, 999_999])).toEqual([everywhere[0]?.score, null]);
  await close();
});

test("concurrent searches do not mix up segments that do not fit into memory", async () => {
  const { store, embedder, close } = await filled(2 * SEGMENT_CHUNKS + 100);
  const passing = new VectorIndex(store, { embedder, dimensions: 32 }, 1);
  await passing.refresh();
  const seeds = [50, SEGMENT_CHUNKS + 50, 90, SEGMENT_CHUNKS + 90];
  const search = (seed: number) => passing.search(vectorOf(seed, 32), () => 1, undefined, 20);
  const alone = [];
  for (const seed of seeds) alone.push(await search(seed));
  expect(await Promise.all(seeds.map(search))).toEqual(alone);
  await close();
});

test("searches give the same chunks, scores and similarities before and after vectors are placed", async () => {
  const { store, embedder, close } = await filled(2 * SEGMENT_CHUNKS + 100);
  await store.vectors.pack(embedder, 1);
  const index = new VectorIndex(store, { embedder, dimensions: 32 }, 1e9);
  const query = vectorOf(SEGMENT_CHUNKS + 50, 32);
  const chunks = [1, 50, SEGMENT_CHUNKS + 50, 2 * SEGMENT_CHUNKS + 50, 999_999];
  const look = async () => {
    await index.refresh();
    const found = await index.search(query, () => 1, undefined, 30);
    return { found, similarities: index.similarities(query, chunks) };
  };
  const first = await look();
  expect(first.found[0]?.chunk).toBe(SEGMENT_CHUNKS + 50);
  expect(first.similarities.map((one) => one === null)).toEqual([false, false, false, false, true]);
  expect(await look()).toEqual(first);
  expect(await look()).toEqual(first);
  await close();
});

test("asking for a known embedder and dropping no vectors write nothing", async () => {
  const path = mkdtempSync(join(tmpdir(), "longhaul-vectors-"));
  const whole = await openSqliteStore({ path });
  const { vectors } = whole.memory;
  const embedder = await vectors.embedder("e", 32);
  const other = new DatabaseSync(join(path, "memory.db"), { readOnly: true });
  const version = other.prepare("PRAGMA data_version");
  const before = version.get();
  expect(await vectors.embedder("e", 32)).toBe(embedder);
  await vectors.dropOthers(embedder);
  expect(version.get()).toEqual(before);
  const next = await vectors.embedder("f", 32);
  expect(next).not.toBe(embedder);
  expect(version.get()).not.toEqual(before);
  other.close();
  await whole.close();
  rmSync(path, { recursive: true });
});
