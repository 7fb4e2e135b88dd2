import { pg_textsearch } from "@electric-sql/pglite-pg_textsearch";
import { expect, onTestFinished, test } from "vitest";
import { TextIndex } from "../../../../../src/memory/index/text-index.ts";
import { analyzeText } from "../../../../../src/memory/text/analyze-text.ts";
import { type MemoryStore, type NewChunk, SEGMENT_CHUNKS } from "../../../../../src/store/memory-store.ts";
import type { PostgresDatabase } from "../../../../../src/store/postgres/connection/postgres-database.ts";
import { PostgresMemory } from "../../../../../src/store/postgres/memory/postgres-memory.ts";
import { spellTerms } from "../../../../../src/store/postgres/memory/server/spell-terms.ts";
import { openSqliteStore } from "../../../../../src/store/sqlite/index.ts";
import { openPgliteEngine } from "../../../../support/postgres/pglite-engine.ts";
import { proofTest } from "../../../../support/proof.ts";
import { Random } from "../../../../support/random.ts";

const WORDS = Array.from({ length: 3_000 }, (_, index) => `word${index}`);
const SPECIAL = ["我们昨天部署了数据库服务器", "the zookeeper quorum was lost"];

/** A word of a language in which the n-th word is n times as rare as the first. */
function pickWord(random: Random): string {
  return WORDS[Math.floor(WORDS.length ** random.next()) - 1] ?? "word0";
}

function buildChunk(turn: number, terms: readonly string[]): NewChunk {
  return {
    ...{ seq: turn, turn, part: 0, from: 0, to: 10, at: turn, author: "user", traits: 0 },
    turnLength: terms.length,
    hash: new Uint8Array(16).fill(turn),
    terms,
  };
}

/** Fills a segment: two chunks of a source of their own, and eight sources of random texts. */
async function fill(memory: MemoryStore): Promise<void> {
  const random = new Random(5);
  const addSource = async (name: string, texts: readonly (readonly string[])[]) => {
    const source = { kind: "session", name, version: "1", cursor: 1 } as const;
    const chunks = texts.map((terms, index) => buildChunk(index + 1, terms));
    const { stamp } = await memory.state();
    expect(await memory.add({ source, expected: undefined, stamp, chunks })).toBe(true);
  };
  await addSource("special", SPECIAL.map(analyzeText));
  for (let source = 0; source < 8; source++) {
    const lengths = Array.from({ length: SEGMENT_CHUNKS / 8 }, () => 4 + Math.floor(random.next() * 12));
    await addSource(
      `source-${source}`,
      lengths.map((length) => Array.from({ length }, () => pickWord(random))),
    );
  }
  while (await memory.seal());
}

test("terms become words of letters, each a different one", () => {
  expect(spellTerms([1, 26, 27, 702, 703])).toBe("a z aa zz aaa");
  const words = spellTerms(Array.from({ length: 20_000 }, (_, index) => index + 1)).split(" ");
  expect(new Set(words).size).toBe(20_000);
  expect(words.every((word) => /^[a-z]+$/.test(word))).toBe(true);
});

proofTest(
  "pg_textsearch finds what the search in memory and the embedded store find, and its removal is survived",
  async () => {
    const engine = await openPgliteEngine({ pg_textsearch });
    const db = engine as unknown as PostgresDatabase;
    const memory = new PostgresMemory(db, "server");
    await fill(memory);
    const count = async (from: string) =>
      Number((await engine.query(`SELECT count(*) FROM ${from}`))[0]?.count);
    expect(await count("@ranked_words")).toBe(SEGMENT_CHUNKS - 1);
    const sqlite = await openSqliteStore({ path: ":memory:" });
    onTestFinished(() => sqlite.close());
    await fill(sqlite.memory);
    const { chunks: total } = await memory.totals();
    const indexes = new Map<MemoryStore, TextIndex>();
    const search = async (from: MemoryStore, terms: readonly string[], scope?: Uint8Array, limit = 40) => {
      const index = indexes.get(from) ?? new TextIndex(from);
      indexes.set(from, index);
      await index.refresh();
      return (await index.search(terms, scope, limit, total)).chunks.map(({ chunk }) => chunk);
    };
    /** The shares of the embedded store's best 10 and best 40 that a search finds. */
    const compare = async (from: MemoryStore) => {
      const random = new Random(99);
      const found = [0, 0, 0, 0] as [number, number, number, number];
      for (let round = 0; round < 10; round++) {
        const terms = [...new Set(Array.from({ length: 6 }, () => pickWord(random)))];
        const scope = round % 2 === 0 ? undefined : Uint8Array.of(0, 0, 1, 1);
        const numbers = new Set(await search(from, terms, scope));
        const expected = await search(sqlite.memory, terms, scope);
        found[0] += expected.slice(0, 10).filter((chunk) => numbers.has(chunk)).length;
        found[1] += Math.min(10, expected.length);
        found[2] += expected.filter((chunk) => numbers.has(chunk)).length;
        found[3] += expected.length;
      }
      return [found[0] / found[1], found[2] / found[3]] as const;
    };
    const scans = async () => {
      // Otherwise the server counts scans up to a second later.
      await engine.query("SELECT pg_stat_force_next_flush()");
      const [row] = await engine.query(
        "SELECT coalesce(sum(idx_scan), 0)::int AS scans FROM pg_stat_all_indexes WHERE indexrelname = 'ranked_words_by_score'",
      );
      return Number(row?.scans);
    };
    const [bestTen, bestForty] = await compare(memory);
    expect(bestTen).toBe(1);
    expect(bestForty).toBeGreaterThan(0.97);
    expect(await scans()).toBeGreaterThan(0);
    expect(await search(memory, analyzeText("数据库"), undefined, 3)).toEqual([1]);
    expect(await search(memory, analyzeText("zookeeper"), undefined, 3)).toEqual([2]);

    await engine.execute("DROP EXTENSION pg_textsearch CASCADE");
    expect((await compare(memory))[0]).toBeGreaterThan(0.95);
    expect(await scans()).toBe(0);
    expect(await search(memory, analyzeText("数据库"), undefined, 3)).toEqual([1]);

    await engine.execute("CREATE EXTENSION pg_textsearch SCHEMA extensions");
    const later = new PostgresMemory(db, "server");
    expect(await search(later, analyzeText("zookeeper"), undefined, 3)).toEqual([2]);
    while (await later.seal());
    expect(await count("@ranked_words")).toBe(SEGMENT_CHUNKS - 1);
    expect(await compare(later)).toEqual([bestTen, bestForty]);
    expect(await scans()).toBeGreaterThan(0);

    expect(await later.forget({ kind: "session", name: "special" })).toBe(2);
    expect(await count("@ranked_words WHERE chunk < 3")).toBe(0);
    expect(await search(later, analyzeText("zookeeper"))).toEqual([]);
    expect(await search(later, analyzeText("数据库"))).toEqual([]);
  },
);
