import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openKernel, repairStore } from "../../src/kernel/index.ts";
import { MIGRATIONS } from "../../src/stores/sqlite/migrations.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, say, testKernel, texts } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";

const filesBelow = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true }).map((file) => ({
    file,
    path: join(file.parentPath, file.name),
  }));

describe("the files of a store", () => {
  test("the files of a store can be read only by their owner", async () => {
    const path = join(testFolder(), "deep", "store");
    const kernel = await testKernel({ path });
    const session = await kernel.session();
    await session.append({ role: "user", parts: [{ type: "data", data: Buffer.from("%PDF-1.7 x") }] });
    expect(statSync(path).mode & 0o777).toBe(0o700);
    for (const { file, path: found } of filesBelow(path)) {
      expect([found, (statSync(found).mode & 0o777).toString(8)]).toEqual([
        found,
        file.isDirectory() ? "700" : "600",
      ]);
    }
  });

  test("the files of a store carry the application id and the schema version", async () => {
    const { kernel, path } = await diskKernel();
    await kernel.session();
    const db = new DatabaseSync(join(path, "log.db"), { readOnly: true });
    expect({ ...db.prepare("PRAGMA application_id").get() }).toEqual({ application_id: 0x4c484c31 });
    expect({ ...db.prepare("PRAGMA user_version").get() }).toEqual({ user_version: MIGRATIONS.length });
    expect({ ...db.prepare("PRAGMA journal_mode").get() }).toEqual({ journal_mode: "wal" });
    db.close();
  });

  test("a released migration is never edited", () => {
    const digests = MIGRATIONS.map((sql) => createHash("sha256").update(sql).digest("hex").slice(0, 16));
    expect(digests).toEqual([
      "43f1eb38a3631e6b",
      "4bf7d8948006f944",
      "3c77e337e733acd6",
      "f7640fd8ab35f083",
      "39d9b2610bbb1f9e",
      "5fb3a2193947f39f",
      "295b039f3e8d61bf",
      "9d181a8990cd2df9",
      "b7fe031912c2acc2",
      "65241d88864ff67a",
      "1f7105cc95417ad2",
      "608a757cc5889ab6",
      "f9f7381356a8e922",
      "a125921d42ff6448",
    ]);
  });
});

describe("opening a store", () => {
  const codeOf = (path: string) =>
    openKernel({ path }).then(
      (kernel) => kernel.close().then(() => "opened"),
      (error) => error.code,
    );

  test("opening refuses a file that is not a database, and does not change it", async () => {
    const path = testFolder();
    writeFileSync(join(path, "log.db"), "my precious notes, which are not a database at all");
    expect(await codeOf(path)).toBe("STORE_CORRUPT");
    expect(readFileSync(join(path, "log.db"), "utf8")).toBe(
      "my precious notes, which are not a database at all",
    );
  });

  test("opening refuses a database of another program, and does not change it", async () => {
    const path = testFolder();
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    db.close();
    const before = readFileSync(join(path, "log.db"));
    expect(await codeOf(path)).toBe("STORE_FOREIGN");
    expect(readFileSync(join(path, "log.db")).equals(before)).toBe(true);
    const after = new DatabaseSync(join(path, "log.db"));
    expect(after.prepare("SELECT count(*) AS n FROM theirs").get()).toMatchObject({ n: 1 });
    expect(after.prepare("SELECT name FROM sqlite_schema").all()).toHaveLength(1);
    after.close();
  });

  test("opening refuses a newer schema", async () => {
    const { kernel, path } = await diskKernel();
    await kernel.close();
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec("PRAGMA user_version = 99");
    db.close();
    await expect(openKernel({ path })).rejects.toMatchObject({
      code: "SCHEMA_TOO_NEW",
      details: { found: 99, known: MIGRATIONS.length },
    });
  });

  test("opening or reading always reports a damaged database", async () => {
    const path = testFolder();
    const kernel = await openKernel({ path });
    await say(
      await kernel.session("s"),
      ...Array.from({ length: 200 }, (_, n) => `${n} ${"word ".repeat(50)}`),
    );
    await kernel.close();
    const file = join(path, "log.db");
    const bytes = readFileSync(file);
    for (let at = 1024 * 3; at < bytes.length - 1024; at += 1024) bytes.fill(0xaa, at, at + 64);
    writeFileSync(file, bytes);
    const reading = async () => {
      await using again = await openKernel({ path });
      const session = await again.session("s");
      for (let seq = 1; seq <= 200; seq++) await session.entry(seq);
    };
    await expect(reading()).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("backup"),
    });
  });

  test("opening reports a path that cannot be a folder", async () => {
    const path = testFolder();
    writeFileSync(join(path, "file"), "x");
    expect(await codeOf(join(path, "file", "store"))).toBe("STORE_IO");
    mkdirSync(join(path, "taken", "log.db"), { recursive: true });
    expect(["STORE_IO", "STORE_CORRUPT"]).toContain(await codeOf(join(path, "taken")));
  });

  proofTest("opening refuses a folder without permission", async (context) => {
    // Root may write anywhere, so the check runs as another user if possible.
    const path = testFolder();
    chmodSync(path, 0o555);
    if (process.getuid?.() !== 0) {
      expect(await codeOf(join(path, "store"))).toBe("STORE_READ_ONLY");
      return;
    }
    const source = new URL("../../src/kernel/index.ts", import.meta.url).href;
    const script = `import { openKernel } from ${JSON.stringify(source)}; process.setuid(65534); await openKernel({ path: ${JSON.stringify(join(path, "store"))} }).then(() => console.log("opened"), (error) => console.log(error.code));`;
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    if (child.status !== 0) context.skip(`could not become another user: ${child.stderr.slice(0, 200)}`);
    expect(child.stdout.trim()).toBe("STORE_READ_ONLY");
  });

  test("opening waits for a lock, then reports that the store is busy, and nothing is lost", async () => {
    const path = testFolder();
    const kernel = await testKernel({ path, busyTimeoutMs: 300 });
    const session = await kernel.session("s");
    await say(session, "1");
    const other = new DatabaseSync(join(path, "log.db"));
    other.exec("BEGIN IMMEDIATE");
    await expect(say(session, "2")).rejects.toMatchObject({ code: "STORE_BUSY" });
    expect(texts(await session.page())).toEqual(["1"]);
    const waiting = say(session, "3");
    setTimeout(() => other.exec("COMMIT"), 100);
    await waiting;
    other.close();
    expect(texts(await session.page())).toEqual(["1", "3"]);
  });
});

describe("deleting content", () => {
  const onDisk = (path: string) =>
    Buffer.concat(
      filesBelow(path)
        .filter(({ file }) => file.isFile())
        .map((found) => readFileSync(found.path)),
    );
  // Short random words stay literal when compressed, so that they can be searched for on disk.
  const secret = "qZ7-vK2xW9pLmT4";

  test("redaction removes the content from the disk, including its drafts", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const draft = session.draft({ role: "assistant", text: secret });
    await draft.flush();
    const { seq } = await draft.finish();
    await say(session, "before", "after");
    expect(onDisk(path).includes(secret)).toBe(true);
    const freed = await session.redact(seq, "a person asked for it");
    expect(freed).toMatchObject({ entries: 1, scrubbed: true });
    expect(freed.payloadBytes).toBeGreaterThan(secret.length);
    expect(onDisk(path).includes(secret)).toBe(false);
    expect(await session.entry(seq)).toMatchObject({
      kind: "redacted",
      was: "message",
      reason: "a person asked for it",
    });
    expect(texts(await session.page())).toEqual(["(redacted)", "before", "after"]);
    await expect(session.redact(99)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  test("deleting a session removes it from the disk, and its space can be freed", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    for (let n = 0; n < 3_000; n++) await say(session, `${n} ${secret}`);
    await session.append({ role: "user", parts: [{ type: "data", data: Buffer.from(`%PDF-${secret}`) }] });
    const keep = await kernel.session("keep");
    await say(keep, "kept");
    expect(await kernel.deleteSession("s")).toMatchObject({
      sessions: 1,
      entries: 3_001,
      blobs: 1,
      scrubbed: true,
    });
    expect(onDisk(path).includes(secret)).toBe(false);
    const before = (await kernel.size()).logBytes;
    expect((await kernel.vacuum()).freedBytes).toBeGreaterThan(before / 2);
    expect(texts(await keep.page())).toEqual(["kept"]);
  });

  test("a deletion interrupted by a crash is completed when the store is opened again", async () => {
    const path = testFolder();
    const kernel = await openKernel({ path });
    await say(await kernel.session("s"), secret);
    await kernel.close();
    // The state after a crash right after the session lost its id.
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec("UPDATE sessions SET id = NULL");
    db.close();
    const again = await openKernel({ path });
    expect(await again.sessions()).toEqual([]);
    await again.close();
    const after = new DatabaseSync(join(path, "log.db"));
    expect(
      after.prepare("SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM sessions) AS n").get(),
    ).toMatchObject({ n: 0 });
    after.close();
  });
});

test("a store from before people is read unchanged, and can be repaired", async () => {
  const path = testFolder();
  {
    await using kernel = await openKernel({ path, embedder: null });
    await (await kernel.session("s")).append({ role: "user", text: "older" });
  }
  const db = new DatabaseSync(join(path, "log.db"));
  for (const table of [
    "person_tokens",
    "people",
    "budget_reservations",
    "budget_uses",
    "budgets",
    "audit",
    "places",
    "ledger",
  ])
    db.exec(`DROP TABLE ${table}`);
  db.exec("PRAGMA user_version = 7");
  db.close();
  {
    await using kernel = await openKernel({ path, readOnly: true, embedder: null });
    expect(await kernel.team.people()).toEqual([]);
    expect((await kernel.head("s")).seq).toBe(1);
  }
  expect(await repairStore(path, join(testFolder(), "new"))).toMatchObject({
    entries: 1,
    incompleteTables: [],
  });
});

test("a store from before sign-ins that a provider may end is read unchanged", async () => {
  const path = testFolder();
  {
    await using kernel = await openKernel({ path, embedder: null });
    await kernel.team.add("alice", { by: "test", expiresAt: 5 });
  }
  const db = new DatabaseSync(join(path, "log.db"));
  for (const column of ["limit_at", "subject", "provider_session"])
    db.exec(`ALTER TABLE person_tokens DROP COLUMN ${column}`);
  db.exec("ALTER TABLE people DROP COLUMN blocked_at; PRAGMA user_version = 13");
  db.close();
  await using kernel = await openKernel({ path, readOnly: true, embedder: null });
  expect(await kernel.team.people()).toMatchObject([{ name: "alice" }]);
  expect(await kernel.team.tokens("alice")).toMatchObject([{ expiresAt: 5 }]);
  await kernel.close();
  await using upgraded = await openKernel({ path, embedder: null });
  expect(await upgraded.team.tokens("alice")).toMatchObject([{ expiresAt: 5 }]);
});

test("a store with counts damaged by a negative limit counts from zero again", async () => {
  const path = testFolder();
  const budget = { unit: "tokens", amount: 1_000, period: "total" } as const;
  {
    await using kernel = await openKernel({ path, embedder: null });
    await kernel.team.setBudget(budget, { by: "test" });
  }
  const db = new DatabaseSync(join(path, "log.db"));
  db.exec(`DROP INDEX budget_reservations_by_budget;
    DROP TRIGGER audit_added;
    DROP TABLE places;
    DROP TABLE ledger;
    ALTER TABLE person_tokens DROP COLUMN limit_at;
    ALTER TABLE person_tokens DROP COLUMN subject;
    ALTER TABLE person_tokens DROP COLUMN provider_session;
    ALTER TABLE people DROP COLUMN blocked_at;
    ALTER TABLE budget_uses ADD COLUMN reserved REAL NOT NULL DEFAULT 0;
    INSERT INTO budget_uses (budget, start, spent, reserved) SELECT id, 0, -1e12, 999999999974 FROM budgets;
    INSERT INTO budget_reservations SELECT 'r', id, 0, -1e12, 'gateway', 0, 0 FROM budgets;
    PRAGMA user_version = 8`);
  db.close();
  expect(await repairStore(path, join(testFolder(), "new"))).toMatchObject({ incompleteTables: [] });
  await using kernel = await openKernel({ path, embedder: null });
  expect((await kernel.team.budgets()).map(({ spent, reserved }) => [spent, reserved])).toEqual([[0, 0]]);
});
