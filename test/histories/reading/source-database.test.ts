import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openSourceDatabase } from "../../../src/histories/reading/source-database.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";

/** A database with three rows, in a journal mode; optionally left open for writing. */
function makeDatabase(mode: "wal" | "delete", keepOpen = false): { path: string; db: DatabaseSync } {
  const path = join(testFolder(), "agent.db");
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = ${mode}; PRAGMA wal_autocheckpoint = 0`);
  db.exec("CREATE TABLE message (id TEXT PRIMARY KEY, data TEXT)");
  for (const id of ["a", "b", "c"]) db.prepare("INSERT INTO message VALUES (?, ?)").run(id, `{"id":"${id}"}`);
  if (!keepOpen) db.close();
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return { path, db };
}

/** All file metadata that a reader could change. */
function look(folder: string) {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { mtimeMs, ctimeMs, size } = statSync(join(folder, name));
      return { name, mtimeMs, ctimeMs, size, content: readFileSync(join(folder, name)).toString("base64") };
    });
}

/** The only folder where copies may be created during a test. */
function copiesFolder(): string {
  const folder = testFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

async function idsOf(path: string): Promise<unknown[]> {
  await using database = await openSourceDatabase(path);
  return (await collect(database.rows("SELECT id FROM message ORDER BY id"))).map(({ id }) => id);
}

describe("a foreign database", () => {
  test.each(["wal", "delete"] as const)(
    "a foreign database is read without changing a file, in mode %s",
    async (mode) => {
      const { path } = makeDatabase(mode);
      const before = look(join(path, ".."));
      expect(await idsOf(path)).toEqual(["a", "b", "c"]);
      expect(look(join(path, ".."))).toEqual(before);
    },
  );

  test("a foreign database in use is copied with its journal, and the copy is removed afterwards", async () => {
    const { path, db } = makeDatabase("wal", true);
    const temporary = copiesFolder();
    db.prepare("INSERT INTO message VALUES ('d', '{}')").run();
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    const before = look(join(path, ".."));
    expect(await idsOf(path)).toEqual(["a", "b", "c", "d"]);
    expect(look(join(path, ".."))).toEqual(before);
    expect(readdirSync(temporary)).toEqual([]);
    db.prepare("INSERT INTO message VALUES ('e', '{}')").run();
    expect(await idsOf(path)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a foreign database does not show uncommitted changes", async () => {
    for (const mode of ["wal", "delete"] as const) {
      const { path, db } = makeDatabase(mode, true);
      db.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE");
      for (let row = 0; row < 500; row++)
        db.prepare("INSERT INTO message VALUES (?, ?)").run(`x${row}`, "words ".repeat(100));
      db.exec("UPDATE message SET id = 'changed' WHERE id = 'a'");
      const before = look(join(path, ".."));
      expect(await idsOf(path)).toEqual(["a", "b", "c"]);
      expect(look(join(path, ".."))).toEqual(before);
      db.exec("ROLLBACK");
    }
  });

  test("a foreign database lists its tables and columns", async () => {
    await using database = await openSourceDatabase(makeDatabase("delete").path);
    expect(database.hasTable("message")).toBe(true);
    expect(database.hasTable("part")).toBe(false);
    expect(database.hasColumn("message", "data")).toBe(true);
    expect(database.hasColumn("message", "time")).toBe(false);
    expect(database.hasColumn("part", "data")).toBe(false);
    expect(await database.first("SELECT data FROM message WHERE id = ?", "b")).toMatchObject({
      data: '{"id":"b"}',
    });
  });

  test("a foreign database is read-only", async () => {
    await using database = await openSourceDatabase(makeDatabase("delete").path);
    await expect(collect(database.rows("INSERT INTO message VALUES ('z', '')"))).rejects.toThrow("readonly");
  });

  test("a foreign database can be closed twice", async () => {
    const { path, db } = makeDatabase("wal", true);
    db.prepare("INSERT INTO message VALUES ('d', '{}')").run();
    const database = await openSourceDatabase(path);
    await database.close();
    await database.close();
  });

  test("a foreign database with a link as its journal is read without the journal", async () => {
    const { path } = makeDatabase("wal");
    const secret = join(testFolder(), "secret");
    writeFileSync(secret, "secret");
    symlinkSync(secret, `${path}-wal`);
    expect(await idsOf(path)).toEqual(["a", "b", "c"]);
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });

  test("a file that is cut, missing, a folder or not a database cannot be opened, and leaves no copy", async () => {
    const folder = testFolder();
    const { path } = makeDatabase("delete");
    const temporary = copiesFolder();
    writeFileSync(
      join(folder, "words.db"),
      "just words, and a few more of them to fill a header of a database file",
    );
    writeFileSync(join(folder, "cut.db"), readFileSync(path).subarray(0, 1_000));
    writeFileSync(join(folder, "cut.db-wal"), "journal");
    mkdirSync(join(folder, "folder.db"));
    for (const name of ["words.db", "cut.db", "folder.db", "missing.db"]) {
      const before = readdirSync(folder);
      await expect(openSourceDatabase(join(folder, name))).rejects.toMatchObject({
        code: "SOURCE_UNREADABLE",
        details: { path: join(folder, name) },
      });
      expect(readdirSync(folder)).toEqual(before);
    }
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("a damaged foreign database gives the rows before the damage", async () => {
    const { path, db } = makeDatabase("delete", true);
    db.exec("BEGIN");
    for (let row = 0; row < 2_000; row++)
      db.prepare("INSERT INTO message VALUES (?, ?)").run(
        `d${String(row).padStart(5, "0")}`,
        "words ".repeat(50),
      );
    db.exec("COMMIT");
    db.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x55, bytes.length - 100_000, bytes.length - 50_000));
    await using database = await openSourceDatabase(path);
    let count = 0;
    const read = async () => {
      for await (const _ of database.rows("SELECT data FROM message")) count++;
    };
    await expect(read()).rejects.toThrow(
      expect.objectContaining({ code: "SOURCE_UNREADABLE", details: { path, isDamaged: true } }),
    );
    expect(count).toBeGreaterThan(1_000);
  });

  test("a foreign database is not opened after the signal", async () => {
    const { path, db } = makeDatabase("wal", true);
    db.prepare("INSERT INTO message VALUES ('d', '{}')").run();
    await expect(
      openSourceDatabase(path, { signal: AbortSignal.abort(new Error("enough")) }),
    ).rejects.toThrow("enough");
  });

  test("a foreign database reads many rows in batches, and nested queries keep their places", async () => {
    const { path, db } = makeDatabase("delete", true);
    db.exec("BEGIN; CREATE TABLE part (id INT, data TEXT)");
    for (let row = 0; row < 1_000; row++) db.prepare("INSERT INTO part VALUES (?, 'x')").run(row);
    db.exec("COMMIT");
    db.close();
    await using database = await openSourceDatabase(path);
    const seen: unknown[] = [];
    for await (const { id } of database.rows("SELECT id FROM part ORDER BY id")) {
      const inner = await database.first("SELECT id FROM part WHERE id >= ? ORDER BY id", Number(id));
      seen.push(inner?.id);
    }
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, row) => row));
  });

  test("a foreign database hides views, virtual tables and generated columns, because they can run code of their author", async () => {
    const { path, db } = makeDatabase("delete", true);
    db.exec(`CREATE VIEW part AS SELECT id, data FROM message; CREATE VIRTUAL TABLE words USING fts5(body);
      CREATE TABLE todo (id TEXT, big TEXT AS (hex(zeroblob(1000000))))`);
    db.close();
    await using database = await openSourceDatabase(path);
    expect(["message", "part", "words", "todo"].map((name) => database.hasTable(name))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(database.hasColumn("part", "data")).toBe(false);
    expect(["id", "big"].map((name) => database.hasColumn("todo", name))).toEqual([true, false]);
  });

  proofTest(
    "an endless query of a foreign database ends at its limit, or at once when the caller stops",
    async () => {
      const endless =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
      await using database = await openSourceDatabase(makeDatabase("delete").path, { maxQueryMs: 1_000 });
      await expect(database.first(endless)).rejects.toThrow("took longer than 1 s");
      const leaving = new AbortController();
      const { signal } = leaving;
      await using other = await openSourceDatabase(makeDatabase("delete").path, { signal });
      const asked = other.first(endless);
      leaving.abort(new Error("enough"));
      await expect(asked).rejects.toThrow("enough");
    },
  );

  test("a foreign database returns no more rows than its file can hold", async () => {
    await using database = await openSourceDatabase(makeDatabase("delete").path);
    const endless =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT zeroblob(100000) AS x FROM c";
    await expect(collect(database.rows(endless))).rejects.toThrow("more than the file can hold");
  });

  test("a sparse foreign database is not copied", async () => {
    const { path } = makeDatabase("delete");
    truncateSync(path, 3e9);
    writeFileSync(`${path}-journal`, "x".repeat(600));
    const temporary = copiesFolder();
    await expect(openSourceDatabase(path)).rejects.toThrow("sparse file");
    expect(readdirSync(temporary)).toEqual([]);
  });
});
