import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { runHere } from "../cli/support/here.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, testKernel } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";

const MESSAGES = 6_000;

/** A store with many unindexed messages; the first contains "turquoise". */
async function unindexedStore(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  for (let n = 0; n < 3; n++) {
    await using session = await kernel.session(`s${n}`);
    for (let from = 0; from < MESSAGES / 3; from += 500) {
      await session.appendAll(
        Array.from({ length: 500 }, (_, m) => ({
          role: "user" as const,
          text: `${n + from + m === 0 ? "the key is turquoise" : ""} message ${n} ${from + m} ${"some words of a long log ".repeat(12)}`,
        })),
      );
    }
  }
  return path;
}

describe("a recall over an unindexed store", () => {
  proofTest(
    "a recall over an unindexed store answers in time, says how much is missing, and finds the rest later",
    async () => {
      await using kernel = await openKernel({ path: await unindexedStore(), embedder: null });
      const first = await kernel.memory.recall("turquoise", { waitMs: 30 });
      expect(first.unindexed).toBeGreaterThan(0);
      expect(first.unindexed).toBeLessThanOrEqual(MESSAGES);
      await kernel.memory.catchUp();
      const later = await kernel.memory.recall("turquoise", { waitMs: 0 });
      expect(later.unindexed).toBeUndefined();
      expect(later.hits[0]).toMatchObject({ entry: "s0#1" });
    },
    120_000,
  );

  proofTest(
    "indexing goes on in the background after a recall, and ends when the kernel closes",
    async () => {
      const kernel = await openKernel({ path: await unindexedStore(), embedder: null });
      const { unindexed = 0 } = await kernel.memory.recall("turquoise", { waitMs: 0 });
      expect(unindexed).toBeGreaterThan(0);
      for (let rest = unindexed; rest > unindexed / 2; await setImmediate())
        rest = (await kernel.memory.recall("turquoise", { waitMs: 50 })).unindexed ?? 0;
      await kernel.close();
    },
    120_000,
  );

  proofTest(
    "the recall command with a wait indexes the store before it answers",
    async () => {
      const path = await unindexedStore();
      const shown = await runHere(["recall", "turquoise", "--store", path, "--wait", "60"]);
      expect(shown.stdout).toContain("the key is turquoise");
      expect(shown.stdout).not.toContain("not indexed");
      await using kernel = await openKernel({ path, embedder: null });
      await using session = await kernel.session("s0");
      await session.append({ role: "user", text: "magenta" });
      expect((await kernel.memory.recall("magenta")).hits[0]?.text).toBe("magenta");
    },
    120_000,
  );

  test("a recall is answered while another process appends without end", async () => {
    const { kernel, path } = await diskKernel({ embedder: null });
    await using writer = await openKernel({ path });
    await using session = await writer.session("busy");
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) {
        await session.appendAll(
          Array.from({ length: 200 }, (_, n) => ({
            role: "user" as const,
            text: `${n} ${"word ".repeat(60)}`,
          })),
        );
        await setImmediate();
      }
    })();
    try {
      for (let n = 0; n < 3; n++) await kernel.memory.recall("word", { waitMs: 200 });
    } finally {
      isWriting = false;
      await writing;
    }
  });
});

describe("a scope of very many sessions", () => {
  proofTest(
    "a recall over 200,000 sessions finds its hit",
    async () => {
      const SESSIONS = 200_000;
      const path = testFolder();
      {
        await using kernel = await openKernel({ path, embedder: null });
        await using session = await kernel.session("t/first");
        await session.append({ role: "user", text: "the key is turquoise" });
        await kernel.memory.recall("turquoise");
      }
      const numbers = `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= ${SESSIONS})`;
      const log = new DatabaseSync(join(path, "log.db"));
      log.exec(`${numbers} INSERT INTO sessions (id, created_at) SELECT 't/' || i, 1 FROM n`);
      log.close();
      const index = new DatabaseSync(join(path, "memory.db"));
      index.exec(`${numbers} INSERT INTO sources (kind, name, version, cursor)
      SELECT (SELECT kind FROM sources LIMIT 1), 't/' || i, '1', 0 FROM n`);
      index.close();
      const kernel = await testKernel({ path, embedder: null });
      const { hits } = await kernel.memory.recall("turquoise", { scope: { prefix: "t/" }, waitMs: 1_000 });
      expect(hits[0]).toMatchObject({ entry: "t/first#1" });
    },
    120_000,
  );
});
