import { expect, test } from "vitest";
import { buildSourceCondition } from "../../../../../src/stores/postgres/memory/server/source-condition.ts";
import {
  buildLexemeQuery,
  buildLexemes,
  chooseCombinations,
} from "../../../../../src/stores/postgres/memory/server/word-search.ts";

const TOTAL = 1_000_000;

function count(term: string, frequency: number) {
  return { term, frequency, rarity: Math.log(1 + TOTAL / frequency) };
}

function chooseNames(frequencies: Readonly<Record<string, number>>, maxChunks = 5_000): string[] {
  const terms = Object.entries(frequencies).map(([term, frequency]) => count(term, frequency));
  return chooseCombinations(terms, TOTAL, maxChunks)
    .map((terms) => terms.map(({ term }) => term).join("+"))
    .sort();
}

test("rare terms are looked up alone, common ones only together", () => {
  expect(chooseNames({ zookeeper: 12, quorum: 900 })).toEqual(["quorum", "zookeeper"]);
  expect(chooseNames({ zookeeper: 12, server: 40_000, restart: 30_000, file: 300_000 })).toEqual([
    "restart+server",
    "zookeeper",
  ]);
  expect(chooseNames({ server: 40_000, restart: 3_000 })).toEqual(["restart"]);
});

test("unknown terms find nothing, and a question of common terms finds something", () => {
  expect(chooseNames({})).toEqual([]);
  expect(chooseCombinations([{ term: "gone", frequency: 0, rarity: 9 }], TOTAL, 10)).toEqual([]);
  expect(chooseNames({ file: 900_000, line: 800_000 }, 100)).toEqual(["line+file"]);
});

test("with a small share of the chunks, common terms are looked up alone too", () => {
  expect(chooseNames({ server: 40_000, restart: 30_000 }, 5_000 / 0.01)).toEqual(["restart", "server"]);
});

test("lexemes have a label by their count and the length of the chunk, and are quoted", () => {
  expect(buildLexemes(["a", "b", "a", "a"])).toBe("'a':1A 'b':1B");
  const long = Array.from({ length: 300 }, (_, index) => `w${index}`);
  expect(buildLexemes(long)).toContain("'w7':1D");
  expect(buildLexemes(["it's", "a\\b", ""])).toBe("'it''s':1A 'a\\\\b':1A");
  expect(buildLexemeQuery([[{ term: "a" }], [{ term: "b" }, { term: "c'" }]])).toBe("('a') | ('b' & 'c''')");
});

test("many sources are sent as bits, few by number", () => {
  expect(buildSourceCondition(undefined, "source", 3)).toEqual({ sql: "true", values: [] });
  expect(buildSourceCondition(Uint8Array.of(0, 1, 0, 1), "source", 3)).toEqual({
    sql: "source = ANY($3::bigint[])",
    values: [[1, 3]],
  });
  const { sql, values } = buildSourceCondition(new Uint8Array(2_001).fill(1, 1), "source", 1);
  expect(sql).toContain("get_bit($1::bytea, source)");
  const [bits] = values as [Uint8Array];
  expect([bits.length, bits[0], bits[1], bits[250]]).toEqual([251, 0b1111_1110, 0xff, 1]);
});
