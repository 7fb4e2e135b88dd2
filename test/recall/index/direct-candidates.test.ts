import { expect, test } from "vitest";
import type { Embedder } from "../../../src/recall/embed/embedder.ts";
import { findDirectChunks } from "../../../src/recall/index/find-candidates.ts";
import { testMemory } from "../test-memory.ts";

const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

function buildDeps({ standing = 0, inPeriod = 0 }) {
  return {
    store: {
      standing: async (limit: number) => range(standing).slice(0, limit),
      inPeriod: async (_from: number, _to: number, limit: number) =>
        range(inPeriod)
          .map((number) => 10_000 + number)
          .slice(0, limit),
    },
    text: { sourceOf: (chunk: number) => chunk % 2 },
    vectors: {
      similarities: (_vector: ArrayLike<number>, chunks: readonly number[]) =>
        chunks.map((chunk) => (chunk % 100) / 100),
    },
  };
}

const window = { fromMs: 0, toMs: 10, slackMs: 1 };

test("the rules closest to the question become candidates", async () => {
  const found = await findDirectChunks(buildDeps({ standing: 99 }), { vector: [1], filter: undefined });
  expect(found).toEqual(range(99).reverse().slice(0, 12));
});

test("a period with few chunks supplies candidates, and a period with too many supplies none", async () => {
  const query = { vector: [1], filter: undefined, windows: [window] };
  expect(await findDirectChunks(buildDeps({ inPeriod: 50 }), query)).toHaveLength(20);
  expect(await findDirectChunks(buildDeps({ inPeriod: 5_000 }), query)).toEqual([]);
});

test("candidates stay within the scope", async () => {
  const filter = Uint8Array.of(0, 1);
  const found = await findDirectChunks(buildDeps({ standing: 99 }), { vector: [1], filter });
  expect(found.length).toBeGreaterThan(0);
  expect(found.every((chunk) => chunk % 2 === 1)).toBe(true);
});

test("the newest candidates are taken if there are no vectors", async () => {
  const { store, text } = buildDeps({ standing: 99 });
  const found = await findDirectChunks({ store, text, vectors: undefined }, { filter: undefined });
  expect(found).toEqual(range(12));
});

test("a standing rule is found among many hits, even without a word of the question", async () => {
  const embedder: Embedder = {
    id: "test/flat",
    dimensions: 4,
    isInstant: true,
    embed: async (texts) => texts.map((text) => [text.includes("red") ? 1 : 0.1, 1, 0, 0]),
  };
  const { memory, say } = await testMemory({ embedder });
  await say("rules", "Always mention the exact source of a figure.");
  for (let number = 0; number < 300; number++)
    await say(`s${number % 20}`, `Entry ${number}: the red card number ${number} was drawn.`);
  await memory.catchUp();
  const { hits } = await memory.recall("How do I compute the chance of a red card?", { k: 1_000 });
  expect(hits.some(({ text }) => text.startsWith("Always mention"))).toBe(true);
});
