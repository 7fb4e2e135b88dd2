import fc from "fast-check";
import { expect, test } from "vitest";
import { listSkipped, type SkippedItem } from "../../../src/log/bulkhead.ts";
import { walkJson } from "../../../src/model/base/walk-json.ts";
import type { Json } from "../../../src/model/json.ts";
import type { MessageInput } from "../../../src/model/message.ts";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { type Fixture, testMemory } from "../test-memory.ts";

function call(input: Json): MessageInput {
  return { role: "assistant", parts: [{ type: "tool-call", callId: "c", name: "write", input }] };
}

function nest(levels: number, inner: Json): Json {
  return JSON.parse('{"a":['.repeat(levels / 2) + JSON.stringify(inner) + "]}".repeat(levels / 2)) as Json;
}

async function listItems({ store }: Fixture) {
  const items: SkippedItem[] = [];
  for await (const item of listSkipped(store)) items.push(item);
  return items;
}

test("a deeply nested tool call is indexed as far as it is read, and the words of others are found", async () => {
  const fixture = await testMemory();
  await fixture.say("alice", call({ note: "pelican", deep: nest(2_500, "bottom"), last: "heron" }));
  await fixture.say("bob", "the zeppelin lands on friday");
  for (const word of ["zeppelin", "pelican", "heron"])
    expect((await fixture.memory.recall(word)).hits, word).toHaveLength(1);
  expect(await listItems(fixture)).toEqual([]);
});

test("a text above the limit of loaded bytes is found by its beginning, and hides nothing else", async () => {
  const fixture = await testMemory({}, ":memory:", { maxReadBytes: 10_000 });
  const output = `capercaillie ${"log line of a build ".repeat(20_000)}`;
  await fixture.say("a", { role: "tool", parts: [{ type: "tool-result", callId: "c", output }] });
  await fixture.say("b", "the zeppelin lands on friday");
  expect((await fixture.memory.recall("zeppelin")).hits).toHaveLength(1);
  expect((await fixture.memory.recall("capercaillie")).hits).toHaveLength(1);
});

test("an entry whose reading fails is left out and listed, and a later version tries it again", async () => {
  const path = testFolder();
  const fixture = await testMemory({}, path);
  const { restore } = fixture.log.blobs;
  fixture.log.blobs.restore = async () => {
    throw new TypeError("the words of the entry must not be noted");
  };
  const long = { role: "user", text: `platypus ${"x".repeat(100_000)}` } as const;
  const seq = await fixture.say("a", long);
  await fixture.say("a", "the kestrel is here");
  await fixture.say("b", "the zeppelin lands on friday");
  for (const word of ["zeppelin", "kestrel"])
    expect((await fixture.memory.recall(word)).hits, word).toHaveLength(1);
  expect((await fixture.memory.recall("platypus")).hits).toHaveLength(0);
  const [skipped, ...more] = await listItems(fixture);
  expect(more).toEqual([]);
  expect(skipped).toMatchObject({ loop: "index", item: `a#${seq}`, reason: "TypeError" });
  fixture.log.blobs.restore = restore;

  const same = await testMemory({}, path);
  expect((await same.memory.recall("platypus")).hits).toHaveLength(0);
  const [row] = await same.store.ledger.list("skipped", { limit: 1 });
  const value = JSON.stringify({ ...JSON.parse(row?.value ?? "{}"), version: "0.0.1" });
  await same.store.ledger.put("skipped", [{ id: row?.id ?? "", value }]);
  const later = await testMemory({}, path);
  expect((await later.memory.recall("platypus")).hits).toHaveLength(1);
  expect(await listItems(later)).toEqual([]);
});

test("an entry that the index cannot hold is left out by itself, and a lost store still fails", async () => {
  const fixture = await testMemory();
  const { memory } = fixture.store;
  const add = memory.add.bind(memory);
  memory.add = async (batch) => {
    if (batch.chunks.some(({ terms }) => terms.includes("platypus"))) throw new RangeError("too large");
    return add(batch);
  };
  for (const text of ["the kestrel", "a platypus", "the buzzard"]) await fixture.say("a", text);
  for (const word of ["kestrel", "buzzard"])
    expect((await fixture.memory.recall(word)).hits, word).toHaveLength(1);
  expect((await listItems(fixture)).map(({ item }) => item)).toEqual(["a#2"]);
  await fixture.say("a", "one more");
  await fixture.store.close();
  await expect(fixture.memory.recall("kestrel")).rejects.toMatchObject({ code: "CLOSED" });
});

/** The walk in words: recursion, which a deep value exhausts. */
function* listNaively(value: Json): Generator<string> {
  if (typeof value === "string" || typeof value === "number") yield String(value);
  else if (Array.isArray(value)) for (const item of value) yield* listNaively(item);
  else if (value !== null && typeof value === "object")
    for (const [name, item] of Object.entries(value)) {
      const [first, ...more] = listNaively(item);
      if (first === undefined) continue;
      yield `${name}: ${first}`;
      yield* more;
    }
}

sizedTest("a walk over any value names and orders its texts as a recursion does", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const walked = [...walkJson(value as Json)].map(({ names, value: leaf }) =>
        [...names, leaf].join(": "),
      );
      expect(walked).toEqual([...listNaively(value as Json)]);
    }),
    { numRuns: proofRounds(5_000, 200) },
  );
});
