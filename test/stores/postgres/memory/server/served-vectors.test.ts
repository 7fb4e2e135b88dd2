import { vector } from "@electric-sql/pglite-pgvector";
import { expect } from "vitest";
import { SEGMENT_CHUNKS } from "../../../../../src/log/store/memory-store.ts";
import { ServedVectors } from "../../../../../src/stores/postgres/memory/server/served-vectors.ts";
import { openPgliteEngine } from "../../../../support/postgres/pglite-engine.ts";
import { proofTest } from "../../../../support/proof.ts";
import { Random } from "../../../../support/random.ts";

const DIMENSIONS = 16;
const FILLED = 600;

proofTest(
  "packed vectors are added to a graph that finds the nearest, also within some sources",
  async () => {
    const db = await openPgliteEngine({ vector });
    const random = new Random(7);
    const vectors = new Int8Array(SEGMENT_CHUNKS * DIMENSIONS);
    const sources = new Uint32Array(SEGMENT_CHUNKS);
    for (let place = 1; place <= FILLED; place++) {
      sources[place] = 1 + (place % 5);
      for (let axis = 0; axis < DIMENSIONS; axis++)
        vectors[place * DIMENSIONS + axis] = Math.round(random.next() * 254) - 127;
    }
    await db.query("INSERT INTO @embedders (id, dimensions) VALUES ('e', 16)");
    await db.query("INSERT INTO @segments (number, sources) VALUES (0, $1)", [
      new Uint8Array(sources.buffer),
    ]);
    await db.query("INSERT INTO @vectors (embedder, segment, vectors) VALUES (1, 0, $1)", [
      new Uint8Array(vectors.buffer),
    ]);
    const served = new ServedVectors(db, 1);
    expect(await served.served(1)).toBe(0);
    expect(await served.fillNext()).toBe(true);
    expect(await served.fillNext()).toBe(false);
    expect(await served.served(1)).toBe(1);
    const question = vectors.slice(50 * DIMENSIONS, 51 * DIMENSIONS).map((value) => value - 1);
    const productOf = (place: number) =>
      question.reduce((sum, value, axis) => sum + value * (vectors[place * DIMENSIONS + axis] as number), 0);
    const exact = (isIn: (place: number) => boolean) =>
      Array.from({ length: FILLED }, (_, index) => index + 1)
        .filter(isIn)
        .sort((left, right) => productOf(right) - productOf(left))
        .slice(0, 10);
    const query = { embedder: 1, vector: question, segments: 1, limit: 10 };
    const found = await served.find({ ...query, filter: undefined });
    expect(found.map(({ chunk }) => chunk)).toEqual(exact(() => true));
    expect(found.map(({ score }) => score)).toEqual(found.map(({ chunk }) => productOf(chunk)));
    const within = await served.find({ ...query, filter: Uint8Array.of(0, 0, 0, 1) });
    expect(within.map(({ chunk }) => chunk)).toEqual(exact((place) => sources[place] === 3));
    expect([...(await served.products(1, question, [50, 51, 7_000]))]).toEqual([
      [50, productOf(50)],
      [51, productOf(51)],
    ]);
    await db.transact((transaction) => served.erase(transaction, [50]));
    expect([...(await served.products(1, question, [50, 51])).keys()]).toEqual([51]);
    await served.dropOthers(2);
    expect(await served.served(1)).toBe(0);
  },
);
