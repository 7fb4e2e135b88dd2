import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { migrateStore } from "../../../src/kernel/faces/log.ts";
import { openKernel } from "../../../src/kernel/index.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { testFolder } from "../../support/folder.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTest } from "../../support/proof.ts";

const server = await findTestPostgres();

/** A store with a fork, a blob, a title, a person, an import and a task. */
async function fillStore(path: string): Promise<void> {
  await using kernel = await openKernel({ path, embedder: null });
  const session = await kernel.session("first", { title: "with a null \0 in it", meta: { a: [1, null] } });
  for (let count = 0; count < 300; count++) await session.append({ role: "user", text: `message ${count}` });
  await session.append({ role: "user", text: "large ".repeat(20_000) });
  const fork = await session.fork();
  await fork.append({ role: "assistant", text: "in the fork" });
  await kernel.team.add("alice", { by: "test", models: ["claude-*"], expiresAt: Date.now() + 60_000 });
  await kernel.team.setBudget({ person: "alice", amount: 5, unit: "usd", period: "week" }, { by: "test" });
  await kernel.close();
  const store = await openSqliteStore({ path });
  await store.intakes.open("elsewhere", "first");
  const entry = { kind: "message", at: 2, payload: Buffer.from("x") } as const;
  await store.entries.append([
    {
      session: "first",
      entries: [entry],
      intake: {
        name: "elsewhere",
        stamp: 0,
        records: [{ id: "r\0ecord", version: "2" }],
        checkpoint: "here",
      },
      task: {
        create: {
          id: "t",
          agent: "a",
          state: "running",
          mode: "background",
          owner: "someone",
          epoch: 3,
          canResume: true,
          resumes: 1,
          attempts: 0,
          createdAt: 5,
        },
      },
    },
  ]);
  await store.tasks.request("t", "kill", "why");
  await store.close();
}

describe.skipIf("problem" in server)(`moving a store (${describeProblem(server)})`, () => {
  proofTest(
    "a store moves to PostgreSQL and back, continues after a stop, and follows its source",
    async () => {
      const from = join(testFolder(), "from");
      await fillStore(from);
      const url = createSchemaUrl(server);
      const stop = new AbortController();
      const stopped = migrateStore(from, url, {
        signal: stop.signal,
        onProgress: ({ entries }) => entries > 0 && stop.abort(),
      });
      await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });

      const writing = await openSqliteStore({ path: from });
      await writing.drafts.write({
        id: "d",
        session: "first",
        owner: "x",
        at: 1,
        payload: Buffer.from("half"),
      });
      const first = await migrateStore(from, url);
      await writing.drafts.delete("d");
      await writing.close();
      expect(first).toMatchObject({ sessions: 2, intakes: 1, tasks: 1, isBehind: false, damagedBlobs: [] });
      expect(first.copiedEntries).toBeLessThan(first.entries);

      const source = await openKernel({ path: from, embedder: null });
      const session = await source.session("first");
      await session.append({ role: "user", text: "written after the first move" });
      await session.redact("first#3");
      await source.close();
      const second = await migrateStore(from, url);
      // The message, and the entries that tell readers of the session and of its fork of the redaction.
      expect(second).toMatchObject({ copiedEntries: 3, redacted: 1, entries: first.entries + 3 });

      const moved = await openPostgresStore({ url });
      expect(await moved.drafts.list("first")).toEqual([]);
      await moved.close();

      const back = join(testFolder(), "back");
      const third = await migrateStore(url, back);
      expect(third).toMatchObject({
        digest: second.digest,
        sessions: 2,
        intakes: 1,
        tasks: 1,
        copiedBlobs: 1,
      });
      const [one, other] = [await openSqliteStore({ path: from }), await openSqliteStore({ path: back })];
      try {
        expect(await other.sessions.get("first")).toEqual(await one.sessions.get("first"));
        expect(await other.transfer?.team(0)).toEqual(await one.transfer?.team(0));
        expect((await other.audit.list({ after: 0, limit: 10 })).map(({ act }) => act)).toEqual([
          "token.add",
          "budget.set",
        ]);
        expect(await other.tasks.get("t")).toEqual(await one.tasks.get("t"));
        expect(await other.intakes.get("elsewhere")).toEqual(await one.intakes.get("elsewhere"));
        expect(await other.intakes.find("elsewhere", ["r\0ecord"])).toEqual(
          await one.intakes.find("elsewhere", ["r\0ecord"]),
        );
      } finally {
        await one.close();
        await other.close();
      }
    },
  );

  test("a target with its own conversations is refused, as is one that has continued by itself", async () => {
    const [from, to] = [join(testFolder(), "from"), join(testFolder(), "to")];
    for (const path of [from, to]) {
      await using kernel = await openKernel({ path, embedder: null });
      await (await kernel.session("s")).append({ role: "user", text: path });
    }
    await expect(migrateStore(from, to)).rejects.toMatchObject({ code: "STORE_FOREIGN" });
    const fresh = join(testFolder(), "fresh");
    await migrateStore(from, fresh);
    for (const path of [from, fresh]) {
      await using kernel = await openKernel({ path, embedder: null });
      await (await kernel.session("s")).append({ role: "user", text: path });
    }
    await expect(migrateStore(from, fresh)).rejects.toMatchObject({ code: "STORE_FOREIGN" });
    await expect(migrateStore(join(from, "nowhere"), fresh)).rejects.toMatchObject({ code: "STORE_IO" });
  });
});

describe.skipIf("problem" in server)(`an older schema (${describeProblem(server)})`, () => {
  proofTest(
    "counts damaged by a negative limit start from zero again, and tables of the former search are dropped",
    async () => {
      const store = createSchemaUrl(server);
      const budget = { unit: "tokens", amount: 1_000, period: "total" } as const;
      {
        await using kernel = await openKernel({ store, embedder: null });
        await kernel.team.setBudget(budget, { by: "test" });
      }
      const schema = new URL(store).searchParams.get("schema");
      const client = new pg.Client({ connectionString: "url" in server ? server.url : "" });
      await client.connect();
      await client.query(`SET search_path TO ${schema};
      DROP INDEX budget_reservations_by_budget;
      DROP FUNCTION reserved_amount;
      DROP TABLE places;
      DROP TABLE ledger;
      DROP INDEX decision_chunks;
      CREATE TABLE chunk_words (chunk bigint);
      CREATE TABLE nearest_1 (chunk bigint);
      ALTER TABLE index_state ADD COLUMN served integer NOT NULL DEFAULT 0;
      ALTER TABLE embedders ADD COLUMN served integer NOT NULL DEFAULT 0;
      ALTER TABLE budget_uses DROP CONSTRAINT budget_uses_spent_check;
      ALTER TABLE budget_reservations DROP CONSTRAINT budget_reservations_amount_check;
      ALTER TABLE budget_uses ADD COLUMN reserved double precision NOT NULL DEFAULT 0;
      INSERT INTO budget_uses SELECT id, 0, -1e12, 999999999974 FROM budgets;
      INSERT INTO budget_reservations SELECT 'r', id, 0, -1e12, 'gateway', 0, false FROM budgets;
      UPDATE longhaul_store SET version = 11`);
      await using kernel = await openKernel({ store, embedder: null });
      expect((await kernel.team.budgets()).map(({ spent, reserved }) => [spent, reserved])).toEqual([[0, 0]]);
      const former = await client.query(
        "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename IN ('chunk_words', 'nearest_1')",
        [schema],
      );
      expect(former.rows).toEqual([]);
      await client.end();
    },
  );
});
