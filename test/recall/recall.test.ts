import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Embedder } from "../../src/recall/embed/embedder.ts";
import { createPackagedModel } from "../../src/recall/embed/packaged-model.ts";
import { testFolder } from "../support/folder.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import { testMemory } from "./test-memory.ts";

const textsOf = (recall: { readonly hits: readonly { readonly text: string }[] }) =>
  recall.hits.map(({ text }) => text);

test("recall finds a message as soon as it is committed, with session, entry and range", async () => {
  const { memory, say } = await testMemory();
  await say("a", "The deployment key lives in the vault under quicksilver.");
  await say("a", "Lunch is at noon.");
  const { hits, isSure } = await memory.recall("where is the deployment key?");
  expect(hits[0]).toMatchObject({
    kind: "session",
    session: "a",
    entry: "a#1",
    seq: 1,
    part: 0,
    from: 0,
    author: "user",
  });
  expect(isSure).toBe(true);
  await say("b", "The deployment key was moved to the drawer.");
  expect(textsOf(await memory.recall("deployment key drawer"))[0]).toContain("drawer");
});

test("recall finds tool calls, their output, reasoning and summaries", async () => {
  const { memory, say, log } = await testMemory();
  await say("a", {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "Perhaps the walrus migration is at fault." },
      { type: "tool-call", callId: "1", name: "bash", input: { command: "grep -r pelican ." } },
    ],
  });
  await say("a", {
    role: "tool",
    parts: [{ type: "tool-result", callId: "1", output: "ERROR: flamingo overflow in line 12" }],
  });
  await log.appendOne("a", {
    body: {
      kind: "overlay",
      author: "longhaul",
      reason: "compaction",
      edit: {
        type: "summarize",
        ranges: [{ session: "a", from: 1, to: 2 }],
        messages: [{ role: "user", parts: [{ type: "text", text: "They hunted an armadillo bug." }] }],
      },
    },
  });
  for (const [word, seq, author] of [
    ["walrus", 1, "assistant"],
    ["pelican", 1, "assistant"],
    ["flamingo", 2, "tool"],
    ["armadillo", 3, "none"],
  ] as const) {
    const { hits } = await memory.recall(word);
    expect(hits[0]).toMatchObject({ seq, author });
    expect(hits[0]?.text.toLowerCase()).toContain(word);
  }
});

test("recall finds the middle of a text too large for the log, with the range in the whole text", async () => {
  const { memory, say, log, store } = await testMemory();
  const filler = "Nothing of note happened on this day at all. ".repeat(4_000);
  const text = `${filler}The heirloom is behind the zanzibar clock. ${filler}`;
  await say("a", text);
  const [hit] = (await memory.recall("zanzibar clock")).hits;
  expect(hit?.text).toContain("zanzibar");
  if (hit?.kind !== "session") throw new Error("no hit");
  expect(text.slice(hit.from, hit.to)).toBe(hit.text);
  expect((await store.entries.get("a", 1))?.payload.length).toBeLessThan(text.length);
  expect(log.limits.spillBytes).toBeLessThan(text.length);
});

test("recall finds words of two Chinese characters", async () => {
  const { memory, say } = await testMemory();
  await say("a", "我们昨天讨论了数据库迁移的计划");
  await say("a", "今天天气很好");
  expect(textsOf(await memory.recall("迁移"))[0]).toContain("迁移");
});

test("recall within a scope returns nothing of another agent, user or project", async () => {
  const { memory, say } = await testMemory();
  await say("agent-1/a", "The cormorant password is one.", { user: "ann" });
  await say("agent-2/b", "The cormorant password is two.", { user: "bob" });
  const found = async (scope: object) => textsOf(await memory.recall("cormorant password", { scope }));
  expect(await found({ prefix: "agent-1/" })).toEqual(["The cormorant password is one."]);
  expect(await found({ meta: { user: "bob" } })).toEqual(["The cormorant password is two."]);
  expect(await found({ sessions: ["agent-1/a"] })).toEqual(["The cormorant password is one."]);
  expect(await found({ sessions: ["agent-1/a"], meta: { user: "bob" } })).toEqual([]);
  expect(await found({ files: ["/nowhere"] })).toEqual([]);
  await expect(memory.recall("cormorant", { scope: {} })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
});

test("recall does not find a redacted entry, and the index loses its words", async () => {
  const path = testFolder();
  const { memory, say, redact, store } = await testMemory({}, path);
  await say("a", "My secret is xylophone42 and nothing else.");
  await say("a", "The secret garden is a book.");
  expect(textsOf(await memory.recall("xylophone42"))[0]).toContain("xylophone42");
  await redact("a", 1);
  expect(textsOf(await memory.recall("xylophone42 secret"))).toEqual(["The secret garden is a book."]);
  expect((await store.memory.termNumbers(["xylophone42", "garden"])).size).toBe(1);
});

test("recall does not find a deleted session, and a new session of the same name starts empty", async () => {
  const { memory, say, store } = await testMemory();
  await say("a", "Remember the ocelot.");
  expect((await memory.recall("ocelot")).hits).toHaveLength(1);
  await store.sessions.delete("a");
  expect((await memory.recall("ocelot")).hits).toHaveLength(0);
  await say("a", "Remember the lynx.");
  expect(textsOf(await memory.recall("ocelot lynx"))).toEqual(["Remember the lynx."]);
});

test("a hit expands to the messages around it", async () => {
  const { memory, say } = await testMemory();
  for (const text of ["one", "two", "three", "four", "five"]) await say("a", text);
  const around = await memory.expand("a#3", { around: 1 });
  expect(around.map(({ seq }) => seq)).toEqual([2, 3, 4]);
});

test("recall says when it is not sure", async () => {
  const { memory, say } = await testMemory();
  await say("a", "We painted the kitchen green in spring.");
  expect((await memory.recall("which colour did we paint the kitchen")).isSure).toBe(true);
  const nothing = await memory.recall("quarterly revenue forecast of the Lisbon subsidiary");
  expect(nothing.isSure).toBe(false);
});

sizedTest("recall accepts any text as a question", async () => {
  const { memory, say } = await testMemory();
  await say("a", "NEAR AND OR NOT columns are words like others.");
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(
      '"',
      "*",
      "NEAR(a, b)",
      "a AND",
      "col:x",
      "-",
      "^a",
      "'; DROP TABLE chunks; --",
      "\u0000",
      "(((",
    ),
    fc
      .array(fc.constantFrom("AND", "OR", "NOT", "NEAR", '"', "(", ")", "*", "columns"), { maxLength: 8 })
      .map((words) => words.join(" ")),
  );
  await fc.assert(
    fc.asyncProperty(hostile, async (question) => {
      const { hits } = await memory.recall(question);
      expect(Array.isArray(hits)).toBe(true);
    }),
    { numRuns: proofRounds(150) },
  );
  expect((await memory.recall("NEAR(columns*")).hits).toHaveLength(1);
});

test("hits have a similarity of meaning with the packaged embedder", async () => {
  const { memory, say } = await testMemory(createPackagedModel());
  await say("a", "The doctor prescribed antibiotics for my infection.");
  await say("a", "We repaired the roof of the barn with new shingles.");
  const { hits, withoutVectors } = await memory.recall("medicine from the physician");
  expect(withoutVectors).toBeUndefined();
  expect(hits[0]?.text).toContain("doctor");
  expect(hits[0]?.similarity).toBeGreaterThan(0.2);
});

test("recall with a missing weights file still answers by words", async () => {
  const { memory, say } = await testMemory(createPackagedModel({ path: "/nowhere/weights.bin" }));
  await say("a", "The ibis came back.");
  const recall = await memory.recall("ibis");
  expect(recall.hits[0]?.text).toContain("ibis");
  expect(recall.withoutVectors).toBeDefined();
});

test("recall waits for the vectors of an embedder in this process, or lets them be added between recalls", async () => {
  const embedder: Embedder = {
    id: "test/instant",
    dimensions: 4,
    isInstant: true,
    embed: async (texts) => {
      if (texts.length > 1) await setTimeout(1);
      return texts.map((text) => [text.includes("zebra") ? 1 : 0, 1, 0, 0]);
    },
  };
  const { memory, say } = await testMemory({ embedder });
  const note = async (bird: string) => {
    for (let number = 0; number < 200; number++) await say(bird, `Note ${number}: a ${bird} at the pond.`);
  };
  await note("heron");
  expect((await memory.recall("heron 7 zebra")).withoutVectors).toBeUndefined();
  await note("stork");
  expect((await memory.recall("stork 7 zebra", { waitMs: 0 })).withoutVectors).toBeDefined();
  // Without a pause between them, each leaves the embedder a moment.
  for (let tries = 0; tries < 500; tries++) {
    const { withoutVectors, unindexed } = await memory.recall("stork 7 zebra", { waitMs: 0 });
    if (withoutVectors === undefined && unindexed === undefined) return;
  }
  expect.unreachable("the vectors were never added");
});

test("recall uses only words while many vectors are missing, says so, and uses vectors later", async () => {
  const waiting = Promise.withResolvers<void>();
  let isSlow = false;
  const embedder: Embedder = {
    id: "test/slow",
    dimensions: 4,
    embed: async (texts) => {
      if (isSlow && texts.length > 1) await waiting.promise;
      return texts.map((text) => [text.includes("zebra") ? 1 : 0, 1, 0, 0]);
    },
  };
  const { memory, say } = await testMemory({ embedder });
  await say("old", "The zebra crossed the road.");
  await memory.catchUp();
  isSlow = true;
  for (let number = 0; number < 100; number++)
    await say("new", `Note ${number}: the heron ${number} stood in the pond.`);
  const early = await memory.recall("heron 7 zebra");
  expect(early.withoutVectors).toMatch(/about \d+ chunks have no vector yet/);
  expect(early.hits.every((hit) => hit.similarity === null || hit.similarity === undefined)).toBe(true);
  expect((await memory.state()).unembedded).toBeGreaterThan(64);
  waiting.resolve();
  await memory.catchUp();
  const late = await memory.recall("heron 7 zebra");
  expect(late.withoutVectors).toBeUndefined();
  expect(await memory.state()).toMatchObject({ unindexed: 0, unembedded: 0 });
});
