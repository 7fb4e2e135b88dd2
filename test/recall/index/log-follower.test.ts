import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Closable } from "../../../src/model/lifetime.ts";
import type { Embedder } from "../../../src/recall/embed/embedder.ts";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { testMemory } from "../test-memory.ts";

function embedderOf(id: string, texts: string[] = []): Embedder {
  return {
    id,
    dimensions: 16,
    embed: async (asked) => {
      texts.push(...asked);
      return asked.map((text) =>
        Array.from({ length: 16 }, (_, axis) => ((text.codePointAt(axis % text.length) ?? 0) % 11) - 5),
      );
    },
  };
}

test("a lost or damaged index is built again from the log", async () => {
  const path = testFolder();
  const first = await testMemory({}, path);
  await first.say("a", "Remember the kestrel.");
  await first.memory.recall("kestrel");
  await first.store.close();
  writeFileSync(join(path, "memory.db"), "this is no database, it is a note of somebody's");
  const second = await testMemory({}, path);
  await second.say("a", "Remember the buzzard.");
  expect((await second.memory.recall("kestrel buzzard")).hits).toHaveLength(2);
});

test("several memories of one store index every message once", async () => {
  const path = testFolder();
  const fixtures = [await testMemory({}, path), await testMemory({}, path), await testMemory({}, path)];
  for (let index = 0; index < 150; index++)
    await fixtures[0]?.say(`s${index % 3}`, `Message ${index} of unique${index}.`);
  await Promise.all(fixtures.map(({ memory }) => memory.catchUp()));
  const totals = await fixtures[1]?.store.memory.totals();
  expect([totals?.sources, totals?.chunks]).toEqual([3, 150]);
  expect((await fixtures[2]?.memory.recall("unique149"))?.hits[0]?.text).toContain("unique149");
});

test("an interrupted catch-up continues where it stopped", async () => {
  const { memory, say, store } = await testMemory();
  for (let index = 0; index < 300; index++) await say("a", `Message ${index} is here.`);
  const controller = new AbortController();
  const options = { signal: controller.signal, onProgress: () => controller.abort() };
  await expect(memory.catchUp(options)).rejects.toMatchObject({ code: "ABORTED" });
  const before = (await store.memory.totals()).chunks;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(300);
  await memory.catchUp();
  expect((await store.memory.totals()).chunks).toBe(300);
});

test("an erasure by a process that died is completed at the next recall", async () => {
  const path = testFolder();
  const { memory, say, store, log } = await testMemory({}, path);
  await say("a", "The password is platypus.");
  await say("a", "Nothing to see here.");
  await memory.catchUp();
  // Another process records an erasure, erases, and dies before it forgets the chunks.
  await store.memory.expectErasure("a", [1]);
  const dying = await testMemory({}, path);
  await (dying.store.memory as unknown as Closable).close();
  const payload = log.encode({ kind: "redacted", was: "message" });
  await dying.store.entries.redact("a", [{ seq: 1, payload }]);
  expect((await store.memory.termNumbers(["platypus"])).size).toBe(1);
  expect((await memory.recall("platypus password")).hits.some(({ text }) => text.includes("platypus"))).toBe(
    false,
  );
  expect((await store.memory.termNumbers(["platypus"])).size).toBe(0);
  expect(await store.memory.expectedErasures(10)).toEqual([]);
});

test("a new embedder computes new vectors, and the old ones are ignored and then dropped", async () => {
  const path = testFolder();
  const asked: string[] = [];
  const one = await testMemory({ embedder: embedderOf("test/one", asked) }, path);
  for (const word of ["heron", "stork", "crane"]) await one.say("a", `A ${word} stands in the water.`);
  await one.memory.catchUp();
  expect(asked).toHaveLength(3);
  const again: string[] = [];
  const two = await testMemory({ embedder: embedderOf("test/two", again) }, path);
  await two.memory.catchUp();
  expect(again).toHaveLength(3);
  const oldNumber = await two.store.memory.vectors.embedder("test/one", 16);
  expect(await two.store.memory.vectors.loose(oldNumber, 0, 10)).toEqual([]);
  const back: string[] = [];
  const three = await testMemory({ embedder: embedderOf("test/one", back) }, path);
  await three.memory.catchUp();
  expect(back).toEqual([]);
});

test("a recall with a failing embedder still answers by words", async () => {
  const warnings: string[] = [];
  const broken: Embedder = {
    id: "test/broken",
    dimensions: 16,
    embed: () => Promise.reject(new Error("no network")),
  };
  const { memory, say } = await testMemory({
    embedder: broken,
    onWarning: (warning) => warnings.push(warning),
  });
  await say("a", "The ibis came back.");
  const recall = await memory.recall("ibis");
  expect(recall.hits[0]?.text).toContain("ibis");
  expect(recall.withoutVectors).toContain("no network");
  expect(warnings.length).toBeGreaterThan(0);
});

sizedTest(
  "recall finds exactly the remaining messages after any appends, redactions and deletions",
  async () => {
    const word = fc.integer({ min: 0, max: 30 }).map((number) => `word${number}`);
    const action = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          type: fc.constant("say" as const),
          session: fc.constantFrom("a", "b"),
          words: fc.array(word, { minLength: 1, maxLength: 5 }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant("redact" as const), pick: fc.nat(50) }) },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant("delete" as const), session: fc.constantFrom("a", "b") }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant("catch up" as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
        const { memory, say, redact, store } = await testMemory();
        const said = new Map<string, readonly string[]>();
        for (const one of actions) {
          if (one.type === "say") {
            const seq = await say(one.session, one.words.join(" "));
            said.set(`${one.session}#${seq}`, one.words);
          } else if (one.type === "redact") {
            const [id] = [...said.keys()].slice(one.pick % Math.max(1, said.size));
            if (id === undefined) continue;
            await redact(id[0] as string, Number(id.slice(2)));
            said.delete(id);
          } else if (one.type === "delete") {
            if (await store.sessions.get(one.session)) await store.sessions.delete(one.session);
            for (const id of [...said.keys()]) if (id.startsWith(`${one.session}#`)) said.delete(id);
          } else await memory.catchUp();
        }
        for (let number = 0; number <= 30; number += 5) {
          const wanted = [...said].filter(([, words]) => words.includes(`word${number}`)).map(([id]) => id);
          const { hits } = await memory.recall(`word${number}`, { k: 100 });
          const found = hits.flatMap((hit) =>
            hit.kind === "session" && hit.text.split(" ").includes(`word${number}`) ? [hit.entry] : [],
          );
          expect(found.sort()).toEqual(wanted.sort());
        }
        expect((await store.memory.totals()).chunks).toBe(said.size);
      }),
      { numRuns: proofRounds(40) },
    );
  },
);
