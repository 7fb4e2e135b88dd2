import assert from "node:assert/strict";
import { type NewChunk, SEGMENT_CHUNKS, type SourceState } from "../../../log/store/memory-store.ts";
import { visitPostings } from "../../../log/store/postings.ts";
import type { Store } from "../../../log/store/store.ts";
import type { StoreProof } from "./store-proof.ts";

const NAME = { kind: "session", name: "s" } as const;

function buildChunk(turn: number, terms: readonly string[], changes: Partial<NewChunk> = {}): NewChunk {
  return {
    seq: turn,
    turn,
    part: 0,
    from: 0,
    to: 10,
    at: 1_000,
    author: "user",
    traits: 3,
    turnLength: terms.length,
    hash: new Uint8Array(16).fill(turn),
    terms,
    ...changes,
  };
}

async function addChunks(
  store: Store,
  chunks: readonly NewChunk[],
  expected: number | undefined,
  cursor: number,
  changes: Partial<SourceState> = {},
): Promise<boolean> {
  const { stamp } = await store.memory.state();
  const source = { ...NAME, version: "1", cursor, ...changes };
  return store.memory.add({ source, expected, stamp, chunks });
}

/** Fills a segment and seals it: each chunk has one common and one unique term. */
async function fillSegment(store: Store): Promise<void> {
  const chunks = Array.from({ length: SEGMENT_CHUNKS - 1 }, (_, index) =>
    buildChunk(index + 1, ["common", `own${index + 1}`]),
  );
  assert.ok(await addChunks(store, chunks, undefined, SEGMENT_CHUNKS));
  assert.ok(await store.memory.seal());
  assert.equal((await store.memory.state()).sealed, 1);
}

async function findPlaces(store: Store, term: string): Promise<number[]> {
  const number = (await store.memory.termNumbers([term])).get(term);
  const places: number[] = [];
  for (const row of number === undefined ? [] : await store.memory.postings([number], 1))
    visitPostings(row.postings, (place) => places.push(place));
  return places;
}

/** The search index. */
export const memoryCases: readonly StoreProof[] = [
  [
    "memory: chunks are returned as they were added, and the cursor moves with them",
    async (store) => {
      const own = buildChunk(1, ["the", "same", "the"], { speaker: "Ann", from: 5, to: 9 });
      assert.ok(await addChunks(store, [own], undefined, 7));
      const [found] = await store.memory.chunks([1]);
      assert.deepEqual(found?.terms, ["the", "same", "the"]);
      assert.deepEqual(
        { ...found, hash: [...(found?.hash ?? [])] },
        { ...own, number: 1, source: 1, hash: [...own.hash] },
      );
      const source = await store.memory.source(NAME);
      assert.deepEqual([source?.cursor, source?.turns, source?.chunks, source?.terms], [7, 1, 1, 3]);
      assert.deepEqual(await store.memory.speakers(10), ["Ann"]);
      assert.deepEqual(await store.memory.totals(), { sources: 1, turns: 1, chunks: 1, terms: 3 });
    },
  ],
  [
    "memory: the second of two writers of the same chunks is told that they are stored",
    async (store) => {
      const both = [
        addChunks(store, [buildChunk(1, ["a"])], undefined, 1),
        addChunks(store, [buildChunk(1, ["a"])], undefined, 1),
      ];
      assert.deepEqual((await Promise.all(both)).sort(), [false, true]);
      assert.equal(await addChunks(store, [buildChunk(2, ["b"])], 0, 2), false);
      assert.equal(await addChunks(store, [buildChunk(2, ["b"])], 1, 2, { version: "2" }), false);
      assert.equal(await addChunks(store, [buildChunk(2, ["b"])], 1, 2), true);
      assert.equal((await store.memory.totals()).chunks, 2);
    },
  ],
  [
    "memory: chunks read before an erasure are not added after it",
    async (store) => {
      const { stamp } = await store.memory.state();
      await store.memory.forget(NAME, [1]);
      const source = { ...NAME, version: "1", cursor: 1 };
      const batch = { source, expected: undefined, chunks: [buildChunk(1, ["secret"])] };
      assert.equal(await store.memory.add({ ...batch, stamp }), false);
      assert.equal(await store.memory.add({ ...batch, stamp: (await store.memory.state()).stamp }), true);
    },
  ],
  [
    "memory: a full segment is sealed with the postings of all its chunks",
    async (store) => {
      assert.equal(await store.memory.seal(), false);
      await fillSegment(store);
      assert.equal((await findPlaces(store, "common")).length, SEGMENT_CHUNKS - 1);
      assert.deepEqual(await findPlaces(store, "own77"), [77]);
      const sources = await store.memory.segmentSources(0);
      assert.deepEqual([sources[0], sources[1], sources[SEGMENT_CHUNKS - 1]], [0, 1, 1]);
      assert.equal(await store.memory.seal(), false);
    },
  ],
  [
    "memory: erased content leaves no chunk, posting, vector or term",
    async (store) => {
      await fillSegment(store);
      const embedder = await store.memory.vectors.embedder("e", 16);
      const vectors = Array.from({ length: SEGMENT_CHUNKS - 1 }, (_, index) => ({
        chunk: index + 1,
        vector: new Int8Array(16).fill(1),
      }));
      await store.memory.vectors.write(embedder, vectors);
      assert.ok(await store.memory.vectors.pack(embedder, 0));
      await store.memory.vectors.cache(embedder, [
        { hash: new Uint8Array(16).fill(77), vector: new Int8Array(16) },
      ]);
      const before = await store.memory.state();
      assert.equal(await store.memory.forget(NAME, [77]), 1);
      assert.notEqual((await store.memory.state()).stamp, before.stamp);
      assert.deepEqual(await store.memory.chunks([77]), []);
      assert.equal((await findPlaces(store, "common")).includes(77), false);
      assert.deepEqual([...(await store.memory.termNumbers(["own77", "own78"])).keys()], ["own78"]);
      assert.equal((await store.memory.segmentSources(0))[77], 0);
      const packed = await store.memory.vectors.read(embedder, 0);
      assert.deepEqual([packed?.[77 * 16], packed?.[78 * 16]], [0, 1]);
      assert.deepEqual(await store.memory.vectors.cached(embedder, [new Uint8Array(16).fill(77)]), [
        undefined,
      ]);
      assert.equal(await store.memory.forget(NAME), SEGMENT_CHUNKS - 2);
      assert.equal(await store.memory.source(NAME), undefined);
      assert.deepEqual(await store.memory.totals(), { sources: 0, turns: 0, chunks: 0, terms: 0 });
      assert.equal((await store.memory.termNumbers(["common"])).size, 0);
    },
  ],
  [
    "memory: chunk numbers are never reused",
    async (store) => {
      await addChunks(store, [buildChunk(1, ["a"]), buildChunk(2, ["b"])], undefined, 2);
      await store.memory.forget(NAME);
      await addChunks(store, [buildChunk(1, ["a"])], undefined, 1);
      assert.deepEqual(
        (await store.memory.tail(0, 10)).map(({ number }) => number),
        [3],
      );
      assert.equal((await store.memory.state()).lastChunk, 3);
    },
  ],
  [
    "memory: the neighbours of a chunk are those of its turn and of adjacent turns, even if another source was stored in between",
    async (store) => {
      await addChunks(
        store,
        [buildChunk(1, ["a"]), buildChunk(2, ["b"]), buildChunk(2, ["c"])],
        undefined,
        2,
      );
      await addChunks(store, [buildChunk(1, ["x"])], undefined, 1, { name: "other" });
      await addChunks(store, [buildChunk(3, ["d"])], 2, 3);
      const near = async (reach: number) =>
        (await store.memory.around([{ number: 3, reach }], 5)).map(({ terms }) => terms[0]).sort();
      assert.deepEqual(await near(0), ["b", "c"]);
      assert.deepEqual(await near(1), ["a", "b", "c", "d"]);
    },
  ],
  [
    "memory: turns of a range are returned with their first chunks, and missing ones are left out",
    async (store) => {
      await addChunks(
        store,
        [buildChunk(1, ["a"]), buildChunk(2, ["b"]), buildChunk(2, ["c"]), buildChunk(3, ["d"])],
        undefined,
        3,
      );
      const [{ source = 0 } = {}] = await store.memory.chunks([1]);
      const found = await store.memory.turns([{ source, from: 2, to: 9 }], 1);
      assert.deepEqual(found.map(({ terms }) => terms[0]).sort(), ["b", "d"]);
      assert.deepEqual(await store.memory.turns([{ source, from: 2, to: 9, marks: 2 }], 1), found);
      assert.deepEqual(await store.memory.turns([], 1), []);
    },
  ],
  [
    "memory: rules and preferences of users, and the chunks of a period, are found without a search term",
    async (store) => {
      await addChunks(
        store,
        [
          buildChunk(1, ["a"], { traits: 128, at: 100 }),
          buildChunk(2, ["b"], { traits: 128, author: "assistant", at: 200 }),
          buildChunk(3, ["c"], { traits: 256 | 1, at: 300 }),
          buildChunk(4, ["d"], { traits: 1, at: 400 }),
        ],
        undefined,
        4,
      );
      assert.deepEqual(await store.memory.standing(10), [3, 1]);
      assert.deepEqual(await store.memory.standing(1), [3]);
      assert.deepEqual([...(await store.memory.inPeriod(200, 300, 10))].sort(), [2, 3]);
      assert.equal((await store.memory.inPeriod(0, 999, 2)).length, 2);
      assert.deepEqual(await store.memory.inPeriod(500, 999, 2), []);
    },
  ],
  [
    "memory: chunks with a decision are listed newest first, page by page",
    async (store) => {
      const decided = { traits: 262_144 | 1024 };
      await addChunks(
        store,
        [
          buildChunk(1, ["a"], { ...decided, at: 300 }),
          buildChunk(2, ["b"], { traits: 1024, at: 400 }),
          buildChunk(3, ["c"], { ...decided, at: 100 }),
          buildChunk(4, ["d"], { ...decided, at: 200 }),
        ],
        undefined,
        4,
      );
      assert.deepEqual(await store.memory.decisions(10, 0), [1, 4, 3]);
      assert.deepEqual(await store.memory.decisions(1, 1), [4]);
      assert.deepEqual(await store.memory.decisions(10, 3), []);
    },
  ],
  [
    "memory: vectors of one embedder are separate from those of another, and the cache holds both",
    async (store) => {
      const { vectors } = store.memory;
      await addChunks(store, [buildChunk(1, ["a"]), buildChunk(2, ["b"])], undefined, 2);
      const [one, two] = [await vectors.embedder("one", 16), await vectors.embedder("two", 16)];
      assert.equal(await vectors.embedder("one", 16), one);
      assert.equal((await vectors.missing(one, 0, 10)).length, 2);
      await vectors.write(one, [{ chunk: 1, vector: new Int8Array(16).fill(5) }]);
      await vectors.write(one, [{ chunk: 99, vector: new Int8Array(16) }]);
      assert.deepEqual(
        (await vectors.missing(one, 0, 10)).map(({ number }) => number),
        [2],
      );
      assert.equal((await vectors.missing(two, 0, 10)).length, 2);
      assert.deepEqual(
        (await vectors.loose(one, 0, 10)).map((loose) => [loose.chunk, loose.vector[0]]),
        [[1, 5]],
      );
      await vectors.cache(one, [{ hash: new Uint8Array(16).fill(1), vector: new Int8Array(16).fill(5) }]);
      assert.equal((await vectors.cached(one, [new Uint8Array(16).fill(1)]))[0]?.[3], 5);
      assert.deepEqual(await vectors.cached(two, [new Uint8Array(16).fill(1)]), [undefined]);
      await vectors.dropOthers(two);
      assert.deepEqual(await vectors.loose(one, 0, 10), []);
      assert.equal((await vectors.cached(one, [new Uint8Array(16).fill(1)]))[0]?.[3], 5);
    },
  ],
  [
    "memory: announced erasures are kept until they are settled",
    async (store) => {
      await store.memory.expectErasure("s", [4]);
      await store.memory.expectErasure("t");
      const notes = await store.memory.expectedErasures(10);
      assert.deepEqual(notes, [{ session: "s", seq: 4 }, { session: "t" }]);
      await store.memory.settleErasure("t");
      assert.deepEqual(await store.memory.expectedErasures(10), [{ session: "s", seq: 4 }]);
    },
  ],
  [
    "memory: the log lists the heads of its sessions, and its version changes with each commit",
    async (store) => {
      await store.sessions.open({ id: "a", createdAt: 5 });
      const before = await store.entries.version();
      await store.entries.append([
        { session: "a", entries: [{ kind: "message", at: 1, payload: Buffer.from("x") }] },
      ]);
      assert.notEqual(await store.entries.version(), before);
      await store.sessions.open({ id: "b", createdAt: 6 });
      const [a, b] = await store.entries.heads({ limit: 10 });
      assert.deepEqual([a?.session, a?.createdAt, a?.seq, b?.session, b?.seq], ["a", 5, 1, "b", 0]);
      assert.deepEqual(await store.entries.heads({ after: a?.place ?? 0, limit: 10 }), [b]);
    },
  ],
];
