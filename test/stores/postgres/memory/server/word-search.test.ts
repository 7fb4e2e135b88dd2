import { describe, expect, onTestFinished, test } from "vitest";
import { type NewChunk, SEGMENT_CHUNKS } from "../../../../../src/log/store/memory-store.ts";
import type { Store } from "../../../../../src/log/store/store.ts";
import { TextIndex } from "../../../../../src/recall/index/text-index.ts";
import { analyzeText } from "../../../../../src/recall/text/analyze-text.ts";
import { openPostgresStore } from "../../../../../src/stores/postgres/index.ts";
import {
  createSchemaUrl,
  describeProblem,
  findTestPostgres,
} from "../../../../support/postgres/test-postgres.ts";
import { proofTest } from "../../../../support/proof.ts";
import { Random } from "../../../../support/random.ts";

const server = await findTestPostgres();

function buildChunk(turn: number, terms: readonly string[]): NewChunk {
  return {
    ...{ seq: turn, turn, part: 0, from: 0, to: 10, at: turn, author: "user", traits: 0 },
    turnLength: terms.length,
    hash: new Uint8Array(16).fill(turn),
    terms,
  };
}

async function open(url: string, recall: "server" | "memory"): Promise<Store> {
  const store = await openPostgresStore({ url: `${url}&recall=${recall}` });
  onTestFinished(() => store.close());
  return store;
}

async function addSource(store: Store, name: string, texts: readonly (readonly string[])[]): Promise<void> {
  const { stamp } = await store.memory.state();
  const source = { kind: "session", name, version: "1", cursor: 1 } as const;
  const chunks = texts.map((terms, index) => buildChunk(index + 1, terms));
  expect(await store.memory.add({ source, expected: undefined, stamp, chunks })).toBe(true);
}

const WORDS = Array.from({ length: 3_000 }, (_, index) => `word${index}`);

/** Texts of common and rare words, as in a language: the n-th word is n times as rare as the first. */
function* makeTexts(count: number, seed: number): Generator<readonly string[]> {
  const random = new Random(seed);
  for (let index = 0; index < count; index++) {
    const length = 5 + Math.floor(random.next() * 60);
    yield Array.from({ length }, () => WORDS[Math.floor(WORDS.length ** random.next()) - 1] ?? "word0");
  }
}

describe.skipIf("problem" in server)(`search on the server (${describeProblem(server)})`, () => {
  proofTest("a sealed segment is searched on the server as in memory, and forgotten there too", async () => {
    const url = createSchemaUrl(server);
    const store = await open(url, "server");
    const own = [analyzeText("我们昨天部署了数据库服务器"), analyzeText("the zookeeper quorum was lost")];
    await addSource(store, "special", own);
    for (let source = 0; source < 8; source++)
      await addSource(store, `source-${source}`, [...makeTexts(SEGMENT_CHUNKS / 8, source + 1)]);
    while (await store.memory.seal());
    const { served, sealed } = await store.memory.state();
    expect([served, sealed]).toEqual([1, 1]);
    const packed = await open(url, "memory");
    expect((await packed.memory.state()).served).toBe(0);
    const [onServer, inMemory] = [new TextIndex(store.memory), new TextIndex(packed.memory)];
    await Promise.all([onServer.refresh(), inMemory.refresh()]);
    expect(onServer.sizeBytes).toBeLessThan(inMemory.sizeBytes);
    const { chunks: total } = await store.memory.totals();
    const random = new Random(99);
    const filter = Uint8Array.of(0, 0, 1, 1);
    let [shared, all] = [0, 0];
    for (let round = 0; round < 20; round++) {
      const terms = [
        ...new Set(
          Array.from({ length: 6 }, () => WORDS[Math.floor(WORDS.length ** random.next()) - 1] ?? "word0"),
        ),
      ];
      const scope = round % 2 === 0 ? undefined : filter;
      const found = await onServer.search(terms, scope, 40, total);
      const expected = await inMemory.search(terms, scope, 40, total);
      expect([...found.frequencies].sort()).toEqual([...expected.frequencies].sort());
      const numbers = new Set(found.chunks.map(({ chunk }) => chunk));
      shared += expected.chunks.filter(({ chunk }) => numbers.has(chunk)).length;
      all += expected.chunks.length;
    }
    // Weights are rounded to four levels on the server, so that the last places differ.
    expect(shared / all).toBeGreaterThan(0.85);
    const search = (text: string) => onServer.search(analyzeText(text), undefined, 3, total);
    expect((await search("数据库")).chunks[0]?.chunk).toBe(1);
    expect((await search("zookeeper")).chunks[0]?.chunk).toBe(2);
    expect(await store.memory.forget({ kind: "session", name: "special" })).toBe(2);
    await onServer.refresh();
    expect((await search("zookeeper")).chunks).toEqual([]);
    expect((await search("数据库")).chunks).toEqual([]);
  });

  test("sessions of a scope are found in one statement", async () => {
    const store = await open(createSchemaUrl(server), "server");
    const meta = { project: "a", count: 1, nested: { x: [1] } };
    await store.sessions.open({ id: "@ann/one", createdAt: 1, meta });
    await store.sessions.open({ id: "@ann/two", createdAt: 1, meta: { project: "ab", count: 12 } });
    await store.sessions.open({ id: "@anna/three", createdAt: 1, meta });
    for (const name of ["@ann/one", "@ann/two", "@anna/three"]) await addSource(store, name, [["x"]]);
    const find = async (conditions: Parameters<NonNullable<typeof store.memory.sessionsInScope>>[0]) =>
      [...((await store.memory.sessionsInScope?.(conditions)) ?? [])].sort();
    expect(await find({ prefixes: ["@ann/"] })).toEqual([1, 2]);
    expect(await find({ prefixes: ["@ann/", "@anna/"], meta: { project: "a" } })).toEqual([1, 3]);
    expect(await find({ prefix: "@ann", meta: { count: 1, nested: { x: [1] } } })).toEqual([1, 3]);
    expect(await find({ names: ["@ann/two", "@bob/x"], prefix: "@ann/" })).toEqual([2]);
    expect(await find({ prefixes: [] })).toEqual([]);
    expect(await find({ meta: { project: "'); DROP" } })).toEqual([]);
  });
});
