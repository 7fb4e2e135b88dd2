import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openKernel } from "../../src/kernel/open-kernel.ts";
import { findDecisions, hasDecision } from "../../src/recall/text/decisions.ts";
import { testFolder } from "../support/folder.ts";
import { testMemory } from "./test-memory.ts";

const shop = { source: { format: "claude-code", path: "x" }, cwd: "/projects/shop" };

test("a sentence that chooses, rejects, finds a cause or sets a rule is a decision, and others are not", () => {
  const kindOf = (text: string) => findDecisions(text, 2)[0]?.kind;
  expect(kindOf("We decided to keep the sessions in PostgreSQL.")).toBe("choice");
  expect(kindOf("I'll use a queue instead of a timer for the mails.")).toBe("choice");
  expect(kindOf("The root cause is a lock that is never released.")).toBe("cause");
  expect(kindOf("We won't support the old login page any more.")).toBe("rejection");
  expect(kindOf("Please always run the linter before a commit.")).toBe("rule");
  expect(kindOf("我们决定用 PostgreSQL 保存会话。")).toBe("choice");
  expect(kindOf("Should we use a queue instead of a timer?")).toBeUndefined();
  expect(kindOf("The tests pass and the page looks fine.")).toBeUndefined();
  expect(hasDecision("```ts\n// We decided to use tabs instead of spaces here.\n```")).toBe(false);
});

test("decisions are listed newest first, by project, with the decision that each one replaces", async () => {
  const { say, memory } = await testMemory();
  await say("a", "We decided to keep login sessions in Redis.", shop);
  await say("a", "The tests pass now and the page looks fine.", shop);
  await say("b", "We decided to paint the harbor wall green.");
  await say("a", "We decided to keep login sessions in PostgreSQL instead of Redis.", shop);
  const own = await memory.listDecisions({ project: "shop" });
  expect(own.map(({ text }) => text)).toEqual([
    "We decided to keep login sessions in PostgreSQL instead of Redis.",
    "We decided to keep login sessions in Redis.",
  ]);
  expect(own[0]).toMatchObject({ author: "user", session: "a", project: "shop" });
  expect(own[0]?.replaces?.text).toBe("We decided to keep login sessions in Redis.");
  expect(own[1]?.replacedBy?.entry).toBe(own[0]?.entry);
  expect(await memory.listDecisions({ project: "/projects" })).toHaveLength(2);
  expect(await memory.listDecisions({ project: "other" })).toEqual([]);
  expect(await memory.listDecisions({ limit: 1 })).toHaveLength(1);
  expect(await memory.listDecisions({ scope: { sessions: ["b"] } })).toHaveLength(1);
});

test("a decision does not replace another one of the same message", async () => {
  const { say, memory } = await testMemory();
  await say(
    "a",
    "We decided to keep login sessions in Redis. We keep login sessions in Redis instead of files.",
  );
  const own = await memory.listDecisions();
  expect(own).toHaveLength(2);
  expect(own.map(({ replaces }) => replaces)).toEqual([undefined, undefined]);
});

test("an overruled decision that is said again overrules in turn, and is listed once", async () => {
  const { say, memory } = await testMemory();
  const redis = "We decided to keep login sessions in Redis.";
  const postgres = "We decided to keep login sessions in PostgreSQL instead of Redis.";
  for (const text of [redis, postgres, redis]) await say("a", text, shop);
  const own = await memory.listDecisions();
  expect(own.map(({ entry, replaces, replacedBy }) => [entry, replaces?.entry, replacedBy?.entry])).toEqual([
    ["a#3", "a#2", undefined],
    ["a#2", "a#1", "a#3"],
  ]);
  const { hits } = await memory.recall("where do we keep login sessions");
  expect(hits[0]).toMatchObject({ text: redis, replaces: { entry: "a#2" } });
});

test("a decision of another project or person is not replaced", async () => {
  const { say, memory } = await testMemory();
  const [old, now] = [
    "We decided to keep login sessions in Redis.",
    "We decided to keep login sessions in PostgreSQL instead of Redis.",
  ];
  await say("a", old, shop);
  await say("b", now, { ...shop, cwd: "/projects/bank" });
  await say("@alice/1", old);
  await say("@bob/1", now);
  await say("@bob/2", old);
  const { hits } = await memory.recall("where do we keep login sessions");
  expect(hits.flatMap((hit) => (hit.kind === "session" ? (hit.replaces ?? []) : []))).toEqual([]);
  const listed = await memory.listDecisions();
  expect(listed).toHaveLength(5);
  expect(listed.flatMap(({ replaces }) => replaces ?? [])).toEqual([]);
});

test("a decision replaces only one that stands for what it gives up, not one that says the same or describes it", async () => {
  const { say, memory } = await testMemory();
  for (const text of [
    "The fix is to read the author with the git log filter instead of walking the tree.",
    "We use the git log filter instead of walking the tree to read the author of a commit.",
    "We should not use tabs in YAML files of the repository.",
    "We won't use tabs in YAML files of the repository, because the parser fails.",
    "I'll use the existing helper to write the test for the parser.",
    "I'll use the existing helper to write the docs for the parser now.",
  ])
    await say("a", text, shop);
  expect((await memory.listDecisions()).flatMap(({ replaces }) => replaces ?? [])).toEqual([]);
  await say(
    "a",
    "We decided to read the author by walking the tree after all, not with the git log filter.",
    shop,
  );
  expect((await memory.listDecisions({ limit: 1 }))[0]?.replaces?.text).toContain(
    "instead of walking the tree",
  );
  await say("a", "我们决定用 Redis 保存登录会话。", shop);
  await say("a", "我们决定改用 PostgreSQL 保存登录会话。", shop);
  expect((await memory.listDecisions({ limit: 1 }))[0]?.replaces?.text).toContain("Redis");
});

test("a fork belongs to the project of its trunk, and its decisions replace those before it", async () => {
  await using kernel = await openKernel({ path: testFolder(), embedder: null });
  const trunk = await kernel.session("a", { meta: shop });
  await trunk.append({ role: "user", text: "We decided to keep login sessions in Redis." });
  const fork = await trunk.fork({ id: "b" });
  await fork.append({ role: "user", text: "We now keep login sessions in SQLite files instead of Redis." });
  const [newest] = await kernel.memory.listDecisions({ project: "shop" });
  expect(newest).toMatchObject({ session: "b", project: "shop", replaces: { entry: "a#1" } });
});

test("a listed decision names the one it replaces, however few are listed", async () => {
  const { say, memory } = await testMemory();
  await say("a", "We decided to keep login sessions in Redis.");
  const walls = Array.from({ length: 300 }, (_, wall) => `We decided to paint wall ${wall} green.`);
  await say("a", walls.join(` ${"The tests pass now and the page looks fine. ".repeat(12)}`));
  await say("a", "We decided to keep login sessions in PostgreSQL instead of Redis.");
  const [newest] = await memory.listDecisions({ limit: 1 });
  expect(newest?.replaces?.entry).toBe("a#1");
});

test("an erased message removes its decision", async () => {
  const { say, redact, memory } = await testMemory();
  const seq = await say("a", "We decided to keep login sessions in Redis.");
  expect(await memory.listDecisions()).toHaveLength(1);
  await redact("a", seq);
  expect(await memory.listDecisions()).toEqual([]);
});

test("recall ranks a decision before the one it replaces, and names the replaced one", async () => {
  const { say, memory } = await testMemory();
  const old = await say("a", "We decided to keep login sessions in Redis.");
  await say("a", "Fine.");
  const now = await say("a", "We decided to keep login sessions in PostgreSQL instead of Redis.");
  const seqs = async (question: string) =>
    (await memory.recall(question)).hits.flatMap((hit) => (hit.kind === "session" ? [hit.seq] : []));
  const found = await seqs("where do we keep login sessions");
  expect(found.indexOf(now)).toBe(0);
  expect(found).toContain(old);
  const [first] = (await memory.recall("where do we keep login sessions")).hits;
  expect(first).toMatchObject({ replaces: { text: "We decided to keep login sessions in Redis." } });
});

test("a store of an earlier version gets its decisions when it is reopened", async () => {
  const path = testFolder();
  {
    await using kernel = await openKernel({ path, embedder: null });
    const session = await kernel.session("a");
    await session.append({ role: "user", text: "We decided to keep login sessions in Redis." });
    await kernel.memory.catchUp();
  }
  const db = new DatabaseSync(join(path, "memory.db"));
  db.exec("DROP INDEX decision_chunks; UPDATE chunks SET traits = traits & ~262144; PRAGMA user_version = 3");
  db.close();
  await using again = await openKernel({ path, embedder: null });
  expect(await again.memory.listDecisions()).toHaveLength(1);
});
