import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { startPoolingProxy } from "../../support/postgres/pooling-proxy.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTest, proofTestIf } from "../../support/proof.ts";

const server = await findTestPostgres();

/** A store with conversations of two people, who use the same words. */
async function openShared(): Promise<{ url: string; schema: string; kernel: Kernel }> {
  const url = createSchemaUrl(server);
  const kernel = await openKernel({ store: url, embedder: null, monitor: false });
  onTestFinished(() => kernel.close());
  for (const [id, text] of [
    ["@alice/chat", "Alice deployed the zookeeper quorum"],
    ["@bob/chat", "Bob deployed the zookeeper quorum"],
    ["@alicea/chat", "Another person deployed the zookeeper quorum"],
    ["memory:gateway:@alice", "The zookeeper of Alice runs on port 2181"],
  ] as const) {
    const session = await kernel.session(id);
    await session.append({ role: "user", text });
  }
  await kernel.memory.catchUp();
  return { url, schema: new URL(url).searchParams.get("schema") as string, kernel };
}

const ALICE = ["@alice/", "memory:gateway:@alice"];

describe.skipIf("problem" in server)(`restricted readers (${describeProblem(server)})`, () => {
  test("a restricted store returns no row of others, whatever is requested", async () => {
    const { url, kernel } = await openShared();
    const store = await openPostgresStore({ url, reader: ALICE });
    onTestFinished(() => store.close());
    const listed = await store.sessions.list({ limit: 100 });
    expect(listed.map(({ id }) => id).sort()).toEqual(["@alice/chat", "memory:gateway:@alice"]);
    expect(await store.sessions.get("@bob/chat")).toBeUndefined();
    expect(await store.entries.get("@bob/chat", 1)).toBeUndefined();
    expect(await store.entries.get("@alice/chat", 1)).toBeDefined();
    expect((await store.entries.heads({ limit: 100 })).length).toBe(2);
    expect((await store.memory.sources({ limit: 100 })).map(({ name }) => name).sort()).toEqual([
      "@alice/chat",
      "memory:gateway:@alice",
    ]);
    expect((await store.memory.totals()).chunks).toBe(2);
    // The dictionary holds the words of all people.
    await expect(store.memory.chunks([1, 2, 3, 4])).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
      message: expect.stringMatching(/scope\.owners.*permission denied for table terms/),
    });
    await expect(store.memory.termNumbers(["word"])).rejects.toThrow(/Recall on a store without `reader`/);
    expect((await store.memory.inPeriod(0, Number.MAX_SAFE_INTEGER, 100)).length).toBe(2);
    await expect(store.sessions.open({ id: "@alice/new", createdAt: 1 })).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
    });
    const nobody = await openPostgresStore({ url: `${url}&reader=@nobody/,%27%20OR%20true` });
    onTestFinished(() => nobody.close());
    expect(await nobody.sessions.list({ limit: 100 })).toEqual([]);
    expect((await kernel.sessions({ limit: 100 })).length).toBe(4);
  });

  test("a recall with a wrong scope finds nothing of others", async () => {
    const { kernel } = await openShared();
    const question = "Who deployed the zookeeper quorum?";
    const sessionsOf = async (scope: Parameters<typeof kernel.memory.recall>[1]) =>
      (await kernel.memory.recall(question, scope)).hits
        .map((hit) => (hit.kind === "session" ? hit.session : ""))
        .sort();
    expect(await sessionsOf({})).toContain("@bob/chat");
    // The filter of a careless caller, who forgot the person.
    for (const scope of [
      { prefix: "" },
      { prefixes: ["@alice", "@bob"] },
      { sessions: ["@bob/chat", "@alice/chat"] },
    ])
      expect(await sessionsOf({ scope: { ...scope, owners: ["@alice/"] } })).toEqual(["@alice/chat"]);
    expect(await sessionsOf({ scope: { owners: ["@alice/"], agents: ["gateway:@bob"] } })).toEqual([]);
  });

  proofTest(
    "the role sees nothing without its setting, which ends with the transaction, also behind a pooler",
    async () => {
      const { url, schema } = await openShared();
      const proxy = await startPoolingProxy(url);
      const store = await openPostgresStore({ url: proxy.url, reader: ["@bob/"] });
      onTestFinished(() => store.close());
      const restricted = await Promise.all([1, 2, 3, 4].map(() => store.sessions.list({ limit: 10 })));
      expect(restricted.flat().map(({ id }) => id)).toEqual(Array(4).fill("@bob/chat"));
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      onTestFinished(() => client.end());
      const count = async () =>
        (await client.query(`SELECT count(*)::int AS count FROM ${schema}.entries`)).rows[0].count;
      expect(await count()).toBe(4);
      await client.query("SET ROLE longhaul_reader");
      expect(await count()).toBe(0);
      await client.query("SELECT set_config('longhaul.reader', '', false)");
      expect(await count()).toBe(0);
      await expect(client.query(`DELETE FROM ${schema}.entries`)).rejects.toThrow(/permission denied/);
      await expect(client.query(`SELECT * FROM ${schema}.entries_0`)).rejects.toThrow(/permission denied/);
      await expect(client.query(`SELECT * FROM ${schema}.postings`)).rejects.toThrow(/permission denied/);
    },
  );

  // Needs the right to create users, which a server of one's own has.
  test.skipIf(process.env.LONGHAUL_TEST_POSTGRES)(
    "a role of the server reads only its own rows, whatever it sets, blobs included",
    async () => {
      const { url, schema, kernel } = await openShared();
      await (await kernel.session("@bob/chat")).append({ role: "user", text: "secret ".repeat(20_000) });
      const restricted = await openPostgresStore({ url, reader: ALICE });
      await restricted.close();
      const admin = new pg.Client({ connectionString: url });
      await admin.connect();
      const user = `reporter_${randomBytes(6).toString("hex")}`;
      await admin.query(`CREATE ROLE ${user} LOGIN; GRANT longhaul_reader TO ${user}`);
      const client = new pg.Client({ connectionString: url.replace("longhaul@", `${user}@`) });
      await client.connect();
      onTestFinished(async () => {
        await client.end();
        await admin.query(`DROP ROLE ${user}`);
        await admin.end();
      });
      const idsOf = async () =>
        (await client.query(`SELECT id FROM ${schema}.sessions ORDER BY id`)).rows.map(({ id }) => id);
      const count = async (table: string) =>
        (await client.query(`SELECT count(*)::int AS count FROM ${schema}.${table}`)).rows[0].count;
      await client.query("SELECT set_config('longhaul.reader', E'\\x1f@bob/', false)");
      expect(await idsOf()).toEqual([]);
      await expect(client.query(`SELECT * FROM ${schema}.readers`)).rejects.toThrow(/permission denied/);
      await admin.query(`INSERT INTO ${schema}.readers VALUES ('${user}', '@alice/')`);
      expect(await idsOf()).toEqual(["@alice/chat"]);
      expect([await count("entries"), await count("blobs"), await count("blob_pieces")]).toEqual([1, 0, 0]);
      await admin.query(`UPDATE ${schema}.readers SET owner = '@bob/'`);
      expect(await idsOf()).toEqual(["@bob/chat"]);
      expect(await count("blobs")).toBe(1);
      expect(await count("blob_pieces")).toBeGreaterThan(0);
    },
  );

  proofTestIf(!process.env.LONGHAUL_TEST_POSTGRES)(
    "an ordinary user owns the tables without restriction, and an administrator can grant the role",
    async () => {
      const admin = new pg.Client({ connectionString: (server as { url: string }).url });
      await admin.connect();
      const user = `plain_${randomBytes(6).toString("hex")}`;
      await admin.query(`CREATE ROLE ${user} LOGIN; GRANT CREATE ON DATABASE postgres TO ${user}`);
      await admin.query(
        "DO $$ BEGIN CREATE ROLE longhaul_reader NOLOGIN; EXCEPTION WHEN duplicate_object THEN END $$",
      );
      const url = createSchemaUrl(server).replace("longhaul@", `${user}@`);
      const store = await openPostgresStore({ url });
      onTestFinished(async () => {
        await store.close();
        await admin.query(`DROP OWNED BY ${user} CASCADE; DROP ROLE ${user}`);
        await admin.end();
      });
      for (const id of ["@alice/a", "@bob/b"]) {
        await store.sessions.open({ id, createdAt: 1 });
        await store.entries.append([
          { session: id, entries: [{ kind: "message", payload: Buffer.from(id), at: 1 }] },
        ]);
      }
      expect((await store.sessions.list({ limit: 10 })).length).toBe(2);
      expect(await store.sessions.readable?.(["@alice/a", "@bob/b"], ["@bob/"])).toBeUndefined();
      await expect(openPostgresStore({ url, reader: ["@bob/"] })).rejects.toThrow(
        /CREATE ROLE longhaul_reader NOLOGIN/,
      );
      await admin.query(`GRANT longhaul_reader TO ${user}`);
      expect(await store.sessions.readable?.(["@alice/a", "@bob/b"], ["@bob/"])).toEqual(new Set(["@bob/b"]));
    },
  );
});
