import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { openclawFormat } from "../../../src/histories/openclaw/openclaw-format.ts";
import { piFormat } from "../../../src/histories/pi/pi-format.ts";
import { testFolder } from "../../support/folder.ts";
import { type ReadSource, readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, textOf } from "../../support/kernel.ts";

type Line = Record<string, unknown>;

const header = (id: string): Line => ({
  type: "session",
  version: 3,
  id,
  timestamp: "2026-05-01T08:00:00.000Z",
  cwd: "/garden",
});

let clock = 0;

function user(id: string, parentId: string | null, text: string): Line {
  const timestamp = new Date(Date.UTC(2026, 4, 1, 8, 0, ++clock)).toISOString();
  return {
    type: "message",
    id,
    parentId,
    timestamp,
    message: { role: "user", content: [{ type: "text", text }], timestamp: 1 },
  };
}

const jsonl = (lines: readonly Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const EVENTS =
  "CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, PRIMARY KEY (session_id, seq))";
const ARCHIVES =
  "CREATE TABLE session_transcript_archives (session_id TEXT, generation TEXT, session_key TEXT, reason TEXT, encoding TEXT, archive_blob BLOB, archive_name TEXT, created_at INTEGER)";
const COLD =
  "CREATE TABLE session_transcript_cold_archives (session_id TEXT PRIMARY KEY, generation TEXT, archive_name TEXT, archived_at INTEGER, storage TEXT, archive_blob BLOB)";

function agentDatabase(folder: string, ...tables: string[]): DatabaseSync {
  const path = join(folder, "agents/main/agent/openclaw-agent.sqlite");
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  for (const table of tables) db.exec(table);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

function addEvents(db: DatabaseSync, session: string, lines: readonly Line[], from = 0): void {
  const insert = db.prepare(
    "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)",
  );
  for (const [index, line] of lines.entries())
    insert.run(session, from + index, JSON.stringify(line), 1000 + from + index);
}

function idsOf(read: ReadSource | undefined): string[] {
  return read?.items.flatMap((item) => (item.type === "record" ? [item.id] : [])) ?? [];
}

function problemsOf(read: ReadSource | undefined): string[] {
  return read?.items.flatMap((item) => (item.type === "problem" ? [item.reason] : [])) ?? [];
}

test("the sender of a message from a channel becomes its speaker", async () => {
  const folder = testFolder();
  const fence = "`".repeat(3);
  const sender = `Sender (untrusted metadata):\n${fence}json\n{"id":"7","name":"Ann B"}\n${fence}\n\nWater the roses.`;
  const lines = [header("s1"), user("a", null, sender), user("b", "a", "And the herbs.")];
  write(join(folder, "agents/main/sessions/s1.jsonl"), jsonl(lines));
  const [found] = await readAll([folder], [openclawFormat]);
  const metas = found?.items.flatMap((item) =>
    item.type === "record" && item.body.kind === "message" ? [item.body.message.meta?.speaker] : [],
  );
  expect(metas).toEqual(["Ann B", undefined]);
});

describe("OpenClaw", () => {
  test("OpenClaw's sessions are read from files, with their facts from the list of sessions", async () => {
    const folder = join(testFolder(), "agents/main/sessions");
    write(join(folder, "s-1.jsonl"), jsonl([header("s-1"), user("a1", null, "dig")]));
    write(join(folder, "s-2.jsonl"), jsonl([header("s-2"), user("a1", null, "deeper")]));
    const list = {
      "agent:main:main": { sessionId: "s-1", displayName: "The garden", totalTokens: 5 },
      "agent:main:subagent:x": { sessionId: "s-2", spawnedBy: "agent:main:main" },
    };
    write(join(folder, "sessions.json"), JSON.stringify(list));
    const read = await readAll([folder], [openclawFormat, piFormat]);
    expect(read.map(({ source }) => [source.format, source.id, source.parent, source.title])).toEqual([
      ["openclaw", "s-1", undefined, "The garden"],
      ["openclaw", "s-2", "s-1", undefined],
    ]);
    expect(read[0]?.items[0]).toMatchObject({
      type: "session",
      meta: {
        openclaw: { id: "s-1", cwd: "/garden", sessionKey: "agent:main:main", session: { totalTokens: 5 } },
      },
    });
    expect(read[0]?.items[1]).toMatchObject({
      type: "record",
      id: "a1",
      body: { message: { meta: { openclaw: { id: "a1" } } } },
    });
  });

  test("OpenClaw's files are recognized by their folder, their list or their entries, and other files are left to pi", async () => {
    const folder = testFolder();
    const own = {
      type: "custom",
      id: "a1",
      parentId: null,
      timestamp: "2026-05-01T08:00:00.000Z",
      customType: "openclaw.cache-ttl",
    };
    const reset = { type: "reset", id: "a2", parentId: "a1", timestamp: "2026-05-01T08:00:01.000Z" };
    write(join(folder, "agents/main/sessions/x.jsonl"), jsonl([header("by-folder")]));
    write(join(folder, "some/y.jsonl"), jsonl([header("by-entry"), own, reset]));
    write(join(folder, "some/z.jsonl"), jsonl([header("of-pi")]));
    write(join(folder, "--garden--/own.jsonl"), jsonl([header("in-pi's-folder"), own]));
    const read = await readAll([folder], [openclawFormat, piFormat]);
    const formats = read.map(({ source }) => [source.id, source.format]);
    expect(Object.fromEntries(formats)).toEqual({
      "by-folder": "openclaw",
      "by-entry": "openclaw",
      "of-pi": "pi",
      "in-pi's-folder": "pi",
    });
    expect(idsOf(read.find(({ source }) => source.id === "by-entry"))).toEqual(["a1", "a2"]);
  });

  test("OpenClaw's transcripts from before a reset are read", async () => {
    const folder = join(testFolder(), "agents/main/sessions");
    write(join(folder, "s-1.jsonl"), jsonl([header("s-1"), user("a1", null, "now")]));
    write(join(folder, "s-1.jsonl.bak"), jsonl([header("s-1"), user("b1", null, "before")]));
    const packed = zstdCompressSync(jsonl([header("s-0"), user("c1", null, "long ago")]));
    write(join(folder, "s-0.jsonl.reset.2026-04-01T00-00-00.000Z.zst"), packed);
    const read = await readAll([folder], [openclawFormat]);
    expect(read.map((one) => [one.source.id, idsOf(one)])).toEqual([
      ["s-1", ["a1"]],
      ["s-0", ["c1"]],
      ["s-1.bak", ["b1"]],
    ]);
  });

  test("a transcript from before a reset gets its facts from the list of sessions", async () => {
    const folder = join(testFolder(), "agents/main/sessions");
    write(join(folder, "s-1.jsonl"), jsonl([header("s-1"), user("a1", null, "now")]));
    const aside = "s-1.jsonl.reset.2026-04-01T00-00-00.000Z";
    write(join(folder, aside), jsonl([header("s-1"), user("b1", null, "before")]));
    const list = { "agent:main:main": { sessionId: "s-1", displayName: "The garden" } };
    write(join(folder, "sessions.json"), JSON.stringify(list));
    const read = await readAll([folder], [openclawFormat]);
    expect(read.map(({ source }) => [source.id, source.title])).toEqual([
      ["s-1", "The garden"],
      ["s-1.reset.2026-04-01T00-00-00.000Z", "The garden"],
    ]);
    for (const { items } of read)
      expect(items[0]).toMatchObject({
        type: "session",
        meta: { openclaw: { sessionKey: "agent:main:main" } },
      });
  });

  test("OpenClaw's database is read with compressed events, and no file changes", async () => {
    const folder = testFolder();
    const db = agentDatabase(folder, EVENTS);
    db.exec("PRAGMA journal_mode = WAL");
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "dig")]);
    const packed = zstdCompressSync(JSON.stringify(user("a2", "a1", "packed")));
    db.prepare("INSERT INTO transcript_events VALUES ('s-1', 2, NULL, 1002, ?, 10)").run(packed);
    addEvents(db, "s-2", [header("s-2"), user("a1", null, "elsewhere")]);
    const agent = join(folder, "agents/main/agent");
    const sums = () =>
      readdirSync(agent).map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(agent, name)))
          .digest("hex"),
      ]);
    const before = sums();
    const read = await readAll([folder], [openclawFormat]);
    expect(sums()).toEqual(before);
    expect(read.map((one) => [one.source.id, one.source.modifiedAt, idsOf(one), problemsOf(one)])).toEqual([
      ["s-1", 1002, ["a1", "a2"], []],
      ["s-2", 1001, ["a1"], []],
    ]);
    expect(read[0]?.items[0]).toMatchObject({ type: "session", meta: { openclaw: { cwd: "/garden" } } });
  });

  test("a grown database of OpenClaw is read from where the last import stopped", async () => {
    const folder = testFolder();
    const db = agentDatabase(folder, EVENTS);
    db.exec("PRAGMA journal_mode = WAL");
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "one"), user("a2", "a1", "two")]);
    const kernel = await testKernel();
    const formats = [openclawFormat];
    await importSources(kernel, [folder], { formats });
    addEvents(db, "s-1", [user("a3", "a1", "another two")], 3);
    const { totals, sources } = await importSources(kernel, [folder], { formats });
    expect([totals.found.messages, totals.added.messages]).toEqual([1, 1]);
    await using session = await kernel.session(sources[0]?.session as string);
    expect((await session.page()).entries.map(textOf)).toEqual(["one", "another two"]);
  });

  test("a rewritten event of OpenClaw is read again", async () => {
    const folder = testFolder();
    const db = agentDatabase(folder, EVENTS);
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "one"), user("a2", "a1", "two")]);
    const [first] = await readAll([folder], [openclawFormat]);
    const last = first?.items.findLast((item) => item.type === "checkpoint");
    const resume = last?.type === "checkpoint" ? last.state : null;
    expect(idsOf((await readAll([folder], [openclawFormat], { resume }))[0])).toEqual([]);
    db.prepare("UPDATE transcript_events SET event_json = ? WHERE seq = 2").run(
      JSON.stringify(user("b2", "a1", "other")),
    );
    expect(idsOf((await readAll([folder], [openclawFormat], { resume }))[0])).toEqual(["a1", "b2"]);
  });

  test("an import of OpenClaw ends on the branch that the database has chosen", async () => {
    const folder = testFolder();
    const state =
      "CREATE TABLE session_transcript_index_state (session_id TEXT PRIMARY KEY, indexed_seq INTEGER, leaf_event_id TEXT, needs_rebuild INTEGER)";
    const db = agentDatabase(folder, EVENTS, state);
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "one"), user("a2", "a1", "two")]);
    db.prepare("INSERT INTO session_transcript_index_state VALUES ('s-1', 2, 'a1', 0)").run();
    const [read] = await readAll([folder], [openclawFormat]);
    expect(read?.items.at(-1)).toEqual({ type: "rewind", to: "a1" });
  });

  test("an archive of OpenClaw becomes a conversation, under its plain id if that is free", async () => {
    const folder = testFolder();
    const db = agentDatabase(folder, EVENTS, ARCHIVES, COLD);
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "live")]);
    const insert = db.prepare(
      "INSERT INTO session_transcript_archives VALUES (?, ?, 'k', 'reset', ?, ?, ?, ?)",
    );
    const lines = (id: string) => Buffer.from(jsonl([header(id), user(`${id}-x`, null, "put aside")]));
    insert.run("s-1", "g1", "zstd", zstdCompressSync(lines("s-1")), "n1", 1);
    insert.run("s-2", "g1", "identity", lines("s-2"), "n2", 2);
    insert.run("s-3", "g1", "lz9", lines("s-3"), "n3", 3);
    db.prepare(
      "INSERT INTO session_transcript_cold_archives VALUES ('s-4', 'g1', 'c.jsonl.zst', 4, 'sqlite', ?)",
    ).run(zstdCompressSync(lines("s-4")));
    db.prepare(
      "INSERT INTO session_transcript_cold_archives VALUES ('s-5', 'g1', 'd.jsonl.zst', 5, 'file', NULL)",
    ).run();
    write(join(folder, "agents/main/agent/cold/d.jsonl.zst"), zstdCompressSync(lines("s-5")));
    const read = await readAll([folder], [openclawFormat]);
    expect(read.map((one) => [one.source.id, idsOf(one)])).toEqual([
      ["s-1", ["a1"]],
      ["s-1@g1", ["s-1-x"]],
      ["s-2", ["s-2-x"]],
      ["s-3", []],
      ["s-4", ["s-4-x"]],
      ["s-5", ["s-5-x"]],
    ]);
    expect(problemsOf(read[3])).toEqual([expect.stringContaining('encoding "lz9" is not known')]);
  });

  test("OpenClaw's events are not decompressed beyond the limits", async () => {
    const folder = testFolder();
    const db = agentDatabase(folder, EVENTS, ARCHIVES);
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "whole"), user("a2", "a1", "x".repeat(3000))]);
    const bomb = zstdCompressSync(JSON.stringify(user("a3", "a1", "0".repeat(100_000))));
    db.prepare("INSERT INTO transcript_events VALUES ('s-1', 3, NULL, 1, ?, 10)").run(bomb);
    db.prepare("INSERT INTO transcript_events VALUES ('s-1', 4, NULL, 1, ?, 10)").run(
      Buffer.from("no zstd at all"),
    );
    db.prepare("INSERT INTO transcript_events VALUES ('s-1', 5, '{', 1, NULL, NULL)").run();
    const lines = Buffer.from(
      jsonl([header("s-2"), ...Array.from({ length: 500 }, () => user("b1", null, "0".repeat(900)))]),
    );
    db.prepare(
      "INSERT INTO session_transcript_archives VALUES ('s-2', 'g', 'k', 'reset', 'zstd', ?, 'n', 1)",
    ).run(zstdCompressSync(lines));
    const limits = { maxRecordBytes: 2000, maxExpansion: 2, freeExpansionBytes: 1000 };
    const [live, archived] = await readAll([folder], [openclawFormat], { limits });
    expect(idsOf(live)).toEqual(["a1"]);
    expect(problemsOf(live)).toEqual([
      expect.stringMatching(/^event 2 of s-1: longer than allowed/),
      expect.stringMatching(/^event 3 of s-1: longer than 2000 bytes unpacked/),
      expect.stringMatching(/^event 4 of s-1: /),
      expect.stringMatching(/^event 5 of s-1: not JSON/),
    ]);
    expect(problemsOf(archived).at(-1)).toMatch(/grows more than 2 times/);
  });

  test("unknown tables in a database of OpenClaw are reported", async () => {
    const folder = testFolder();
    agentDatabase(folder, "CREATE TABLE session_windows (session_id TEXT)", "PRAGMA user_version = 99");
    const [read] = await readAll([folder], [openclawFormat]);
    expect(problemsOf(read)).toEqual([expect.stringContaining("version 99 of OpenClaw's schema")]);
    const other = testFolder();
    agentDatabase(other, "CREATE TABLE auth (token TEXT)");
    expect(await sourcesAt([other], [openclawFormat])).toEqual([]);
  });

  test("OpenClaw's session files are not read again if its database contains them", async () => {
    const folder = testFolder();
    const db = agentDatabase(
      folder,
      EVENTS,
      "CREATE TABLE session_nodes (session_key TEXT, current_session_id TEXT, entry_json TEXT)",
      "CREATE TABLE session_windows (session_id TEXT, session_key TEXT)",
    );
    addEvents(db, "s-1", [header("s-1"), user("a1", null, "dig"), user("a2", "a1", "more")]);
    db.prepare("INSERT INTO session_nodes VALUES ('agent:main:main', 's-1', ?)").run(
      JSON.stringify({ label: "Garden" }),
    );
    db.close();
    const sessions = join(folder, "agents/main/sessions");
    write(join(sessions, "s-1.jsonl"), jsonl([header("s-1"), user("a1", null, "dig")]));
    write(join(sessions, "s-7.jsonl"), jsonl([header("s-7"), user("a1", null, "not migrated")]));
    const found = await sourcesAt([folder], [openclawFormat]);
    expect(found.map(({ source }) => [source.id, source.path.endsWith(".sqlite"), source.title])).toEqual([
      ["s-1", true, "Garden"],
      ["s-7", false, undefined],
    ]);
  });

  test("OpenClaw's data is searched in its state folder, or under its former name", () => {
    const system = { home: "/people/me", platform: "linux", env: {} } as const;
    expect(openclawFormat.homes(system)).toEqual([
      "/people/me/.openclaw/agents",
      "/people/me/.clawdbot/agents",
    ]);
    expect(openclawFormat.homes({ ...system, env: { OPENCLAW_STATE_DIR: "/x" } })).toEqual(["/x/agents"]);
  });
});
