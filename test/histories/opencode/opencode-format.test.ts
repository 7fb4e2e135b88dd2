import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { opencodeFormat } from "../../../src/histories/opencode/opencode-format.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, textOf } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

type Fields = Record<string, unknown>;
type Message = { info: Fields; parts: Fields[] };

const SESSION = {
  id: "ses_1",
  projectID: "p",
  directory: "/garden",
  title: "The garden",
  version: "1.2.0",
  time: { created: 1000, updated: 9000 },
};
const TOKENS = { input: 10, output: 4, reasoning: 1, cache: { read: 90, write: 2 } };

function user(id: string, parts: Fields[], more: Fields = {}): Message {
  return { info: { id, sessionID: "ses_1", role: "user", time: { created: 1000 }, ...more }, parts };
}

function assistant(id: string, parts: Fields[], more: Fields = {}): Message {
  const time = { created: 2000, completed: 2500 };
  const who = { modelID: "m-1", providerID: "some", path: { cwd: "/garden", root: "/" }, finish: "stop" };
  return { info: { id, sessionID: "ses_1", role: "assistant", time, ...who, ...more }, parts };
}

function tool(callID: string, state: Fields, more: Fields = {}): Fields {
  return {
    id: `prt_${callID}`,
    type: "tool",
    tool: "dig",
    callID,
    state: { input: { depth: 2 }, ...state },
    ...more,
  };
}

function done(output: string, more: Fields = {}): Fields {
  return {
    status: "completed",
    output,
    title: "dug",
    metadata: {},
    time: { start: 2100, end: 2200 },
    ...more,
  };
}

const text = (words: string, more: Fields = {}): Fields => ({ type: "text", text: words, ...more });

function exported(messages: Message[], info: Fields = SESSION, name = "ses_1.json"): string {
  const path = join(testFolder(), name);
  writeFileSync(path, JSON.stringify({ info, messages }, null, 2));
  return path;
}

async function itemsOf(messages: Message[], info?: Fields): Promise<readonly Item[]> {
  const [read] = await readAll([exported(messages, info)], [opencodeFormat]);
  return read?.items ?? [];
}

async function recordsOf(messages: Message[], info?: Fields): Promise<readonly RecordItem[]> {
  return (await itemsOf(messages, info)).filter((item) => item.type === "record");
}

function bodyOf(records: readonly RecordItem[], id: string) {
  return records.find((record) => record.id === id)?.body;
}

function storage(root: string, messages: Message[], info: Fields = SESSION): void {
  const write = (path: string, value: unknown) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(value));
  };
  write(`session/p/${info.id}.json`, info);
  for (const { info: own, parts } of messages) {
    write(`message/${info.id}/${own.id}.json`, own);
    for (const [index, part] of parts.entries())
      write(`part/${own.id}/${part.id ?? `prt_${index}`}.json`, part);
  }
}

/** A database in opencode's format, with the columns that are read. */
function database(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
      version TEXT, revert TEXT, summary_files INTEGER, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
      data TEXT);
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
      time_updated INTEGER, data TEXT);
    CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, priority TEXT, position INTEGER)`);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

function addSession(
  db: DatabaseSync,
  id: string,
  parent: string | null = null,
  revert: string | null = null,
): void {
  db.prepare("INSERT INTO session VALUES (?, 'p', ?, '/garden', ?, '1', ?, 2, 1000, 9000)").run(
    id,
    parent,
    `Title of ${id}`,
    revert,
  );
}

function addMessage(db: DatabaseSync, { info, parts }: Message, session = "ses_1"): void {
  const { id, sessionID: _, ...data } = info;
  const created = (info.time as { created: number }).created;
  db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(
    id as string,
    session,
    created,
    created,
    JSON.stringify(data),
  );
  for (const [index, { id: own, ...part }] of parts.entries())
    db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(
      (own as string) ?? `prt_${id}_${index}`,
      id as string,
      session,
      created,
      created,
      JSON.stringify(part),
    );
}

describe("opencode", () => {
  test("opencode's messages are read with tool results after their calls", async () => {
    const records = await recordsOf([
      user("msg_1", [text("dig")]),
      assistant("msg_2", [
        { type: "reasoning", text: "how deep?", metadata: { some: { itemId: "i" } }, time: { start: 1 } },
        text("Two feet."),
        tool("c1", done("a hole")),
        tool("c2", { status: "error", error: "a stone", time: { start: 1, end: 2 } }),
      ]),
    ]);
    expect(records.map(({ id }) => id)).toEqual([
      "msg_1",
      "msg_2",
      "msg_2/prt_c1:result",
      "msg_2/prt_c2:result",
    ]);
    expect(bodyOf(records, "msg_2")).toMatchObject({
      message: {
        role: "assistant",
        model: "m-1",
        parts: [
          { type: "reasoning", text: "how deep?", opaque: { some: { itemId: "i" } } },
          { type: "text", text: "Two feet." },
          { type: "tool-call", callId: "c1", name: "dig", input: { depth: 2 } },
          { type: "tool-call", callId: "c2" },
        ],
      },
    });
    expect(bodyOf(records, "msg_2/prt_c1:result")).toMatchObject({
      message: {
        role: "tool",
        parts: [{ callId: "c1", name: "dig", output: [{ type: "text", text: "a hole" }] }],
      },
    });
    expect(bodyOf(records, "msg_2/prt_c2:result")).toMatchObject({
      message: { parts: [{ callId: "c2", isError: true, output: [{ text: "a stone" }] }] },
    });
  });

  test("opencode's own fields are kept, and working folders once", async () => {
    const patch = { type: "patch", id: "prt_9", hash: "abc", files: ["a"] };
    const items = await itemsOf([
      user("msg_1", [text("hi", { synthetic: true, id: "prt_1" })], { agent: "build" }),
      assistant("msg_2", [{ type: "step-start", snapshot: "s1" }, patch]),
      assistant("msg_3", [], { path: { cwd: "/other", root: "/" } }),
    ]);
    const records = items.filter((item) => item.type === "record");
    expect(items.filter((item) => item.type === "session").at(-1)).toMatchObject({
      meta: { opencode: { directory: "/garden", path: { cwd: "/garden", root: "/" } } },
    });
    expect(bodyOf(records, "msg_1")).toMatchObject({
      message: { meta: { opencode: { agent: "build", parts: { 0: { synthetic: true, id: "prt_1" } } } } },
    });
    expect(bodyOf(records, "msg_2")).toEqual({
      kind: "message",
      message: {
        role: "assistant",
        model: "m-1",
        parts: [{ type: "raw", format: "opencode", value: patch }],
        meta: {
          opencode: {
            providerID: "some",
            finish: "stop",
            time: { completed: 2500 },
            steps: [{ type: "step-start", snapshot: "s1" }],
          },
        },
      },
    });
    expect(bodyOf(records, "msg_3")).toMatchObject({
      message: { meta: { opencode: { path: { cwd: "/other" } } } },
    });
  });

  test("opencode's usage is reported once for each step", async () => {
    const step = { type: "step-finish", reason: "stop", cost: 0.25, tokens: TOKENS };
    const records = await recordsOf([
      assistant("msg_1", [step], { tokens: TOKENS, cost: 0.25 }),
      assistant("msg_2", [text("older")], { tokens: TOKENS, cost: 0.5 }),
      assistant("msg_3", [step, tool("c1", done("x")), { type: "step-start" }, step], {
        tokens: TOKENS,
        cost: 0.5,
      }),
      assistant("msg_4", [], { tokens: { input: 0, output: 0 }, cost: 0 }),
    ]);
    const counts = {
      inputTokens: 10,
      outputTokens: 4,
      reasoningTokens: 1,
      cacheReadTokens: 90,
      cacheWriteTokens: 2,
    };
    const used = records.flatMap(({ id, body }) => (body.kind === "usage" ? [[id, body.usage]] : []));
    expect(used).toEqual([
      ["msg_1/1:usage", { ...counts, cost: 0.25 }],
      ["msg_2/1:usage", { ...counts, cost: 0.5 }],
      ["msg_3/1:usage", { ...counts, cost: 0.25 }],
      ["msg_3/2:usage", { ...counts, cost: 0.25 }],
    ]);
    expect(JSON.stringify(bodyOf(records, "msg_1"))).not.toContain("tokens");
  });

  test("reasoning is added to the output where opencode counts it separately", async () => {
    const apart = { ...TOKENS, total: 107 };
    const records = await recordsOf([assistant("msg_1", [], { tokens: apart, cost: 1 })]);
    expect(bodyOf(records, "msg_1/1:usage")).toMatchObject({
      usage: { outputTokens: 5, reasoningTokens: 1 },
    });
  });

  test("steps of an old opencode message become consecutive messages", async () => {
    const records = await recordsOf([
      assistant("msg_1", [
        { type: "step-start" },
        tool("c1", done("a hole")),
        { type: "step-start" },
        text("Now the tree."),
      ]),
    ]);
    expect(records.map(({ id }) => id)).toEqual(["msg_1", "msg_1/prt_c1:result", "msg_1/step2"]);
    expect(bodyOf(records, "msg_1/step2")).toMatchObject({ message: { parts: [{ text: "Now the tree." }] } });
  });

  test("pictures of the user and of tools are kept as data, and links stay unchanged", async () => {
    const url = `data:image/png;base64,${PIXEL_PNG}`;
    const link = { type: "file", mime: "text/plain", url: "file:///garden/plan.txt" };
    const attachments = [{ type: "file", mime: "image/png", url, filename: "hole.png" }];
    const records = await recordsOf([
      user("msg_1", [{ type: "file", mime: "image/png", url, filename: "tree.png" }, link]),
      assistant("msg_2", [tool("c1", done("see", { attachments }))]),
    ]);
    expect(bodyOf(records, "msg_1")).toMatchObject({
      message: {
        parts: [
          { type: "data", data: PIXEL_PNG, name: "tree.png" },
          { type: "raw", value: link },
        ],
      },
    });
    expect(bodyOf(records, "msg_2/prt_c1:result")).toMatchObject({
      message: {
        parts: [{ output: [{ text: "see" }, { type: "data", data: PIXEL_PNG, name: "hole.png" }] }],
      },
    });
  });

  test("tool results that opencode has cleared are replaced by overlays", async () => {
    const records = await recordsOf([
      assistant("msg_1", [tool("c1", done("long", { time: { end: 5, compacted: 77 } }))]),
    ]);
    expect(records.at(-1)).toMatchObject({
      id: "msg_1/prt_c1:result:cleared",
      at: 5,
      body: { kind: "overlay", madeAt: 77, edit: { type: "replace", target: { callId: "c1" } } },
    });
  });

  test("metadata of a tool that repeats its input, its output or other metadata is dropped", async () => {
    const output =
      "1: the first line of the file is here\n2: and this is the second of them, which is longer";
    const shown = "the first line of the file is here\nand this is the second of them, which is longer";
    const diff = "- old line of the file\n+ new line of the file";
    const metadata = {
      preview: shown,
      output: `${output}\n\n...`,
      description: "Looks into the file",
      diff: `${diff}\n`,
      files: [{ diff, before: "something else" }],
      exit: 0,
    };
    const input = { description: "Looks into the file" };
    const items = await itemsOf([assistant("msg_1", [tool("c1", { ...done(output, { metadata }), input })])]);
    const records = items.filter((item) => item.type === "record");
    expect(bodyOf(records, "msg_1/prt_c1:result")).toMatchObject({
      message: { meta: { opencode: { metadata: { exit: 0, files: [{ before: "something else" }] } } } },
    });
    expect(JSON.stringify(records)).not.toContain(shown.replace("\n", "\\n"));
    const copied = items.flatMap((item) => (item.type === "copy" ? [item.bytes] : []));
    const bytes = [metadata.preview, metadata.output, metadata.description, metadata.diff].map(
      (one) => JSON.stringify(one).length,
    );
    expect(copied).toEqual([bytes.reduce((sum, one) => sum + one)]);
  });

  test("other metadata of a tool is kept, in its own record if it is large", async () => {
    const metadata = { output: "what nobody else says, ".repeat(300) };
    const records = await recordsOf([assistant("msg_1", [tool("c1", done("short", { metadata }))])]);
    expect(bodyOf(records, "msg_1/prt_c1:result:extra")).toEqual({
      kind: "raw",
      value: { type: "tool", metadata },
    });
  });

  test("calls and messages with redacted ids get new ids, so that results match their calls", async () => {
    const part = (name: string) => ({ ...tool("REDACTED", done(name)), id: "REDACTED" });
    const records = await recordsOf([
      assistant("REDACTED", [part("one"), part("two")]),
      assistant("REDACTED", [part("three")]),
      assistant("msg_1", [part("four")]),
      assistant("msg_1", [text("the id again")]),
    ]);
    expect(new Set(records.map(({ id }) => id)).size).toBe(8);
    const parts = records.flatMap(({ body }) => (body.kind === "message" ? (body.message.parts ?? []) : []));
    const calls = parts.flatMap((one) => (one.type === "tool-call" ? [one.callId] : []));
    const results = parts.flatMap((one) => (one.type === "tool-result" ? [one.callId] : []));
    expect(calls).toEqual(["REDACTED", "#0/1", "#1/0", "msg_1/0"]);
    expect(results).toEqual(calls);
  });

  test("a compaction of opencode summarizes earlier messages, except the tail that it keeps", async () => {
    const asked = (more: Fields) => user("msg_4", [{ type: "compaction", auto: true, ...more }]);
    const summary = assistant("msg_5", [text("so far")], { summary: true, parentID: "msg_4" });
    const before = [
      user("msg_1", [text("1")]),
      assistant("msg_2", [tool("c1", done("x"))]),
      user("msg_3", [text("3")]),
    ];
    const spansOf = async (messages: Message[]) => {
      const body = bodyOf(await recordsOf(messages), "msg_5:summary");
      return body?.kind === "overlay" && body.edit.type === "summarize"
        ? [body.edit.spans, body.edit.record]
        : undefined;
    };
    expect(await spansOf([...before, asked({}), summary])).toEqual([[{ through: "msg_4" }], "msg_5"]);
    expect(await spansOf([...before, asked({ tail_start_id: "msg_3" }), summary])).toEqual([
      [{ through: "msg_2/prt_c1:result" }, { from: "msg_4", through: "msg_4" }],
      "msg_5",
    ]);
    expect(await spansOf([...before, asked({ tail_start_id: "msg_gone" }), summary])).toEqual([
      [{ through: "msg_4" }],
      "msg_5",
    ]);
    const old = assistant("msg_5", [text("so far")], { summary: true, parentID: "msg_3" });
    expect(await spansOf([...before, old])).toEqual([[{ through: "msg_3" }], "msg_5"]);
    const failed = assistant("msg_5", [], { summary: true, parentID: "msg_4", error: { name: "Aborted" } });
    expect(await spansOf([...before, asked({}), failed])).toBeUndefined();
  });

  test("a revert of opencode returns to before the reverted message", async () => {
    const messages = [
      user("msg_1", [text("1")]),
      assistant("msg_2", [text("2")]),
      user("msg_3", [text("3")]),
    ];
    const items = await itemsOf(messages, { ...SESSION, revert: { messageID: "msg_3" } });
    expect(items.at(-1)).toEqual({ type: "rewind", to: "msg_2" });
    const all = await itemsOf(messages, { ...SESSION, revert: { messageID: "msg_1" } });
    expect(all.at(-1)).toEqual({ type: "rewind", to: null });
  });

  test("a grown message of opencode is imported again", async () => {
    const folder = testFolder();
    const path = join(folder, "ses_1.json");
    const kernel = await testKernel();
    const formats = [opencodeFormat];
    const write = (messages: Message[]) => writeFileSync(path, JSON.stringify({ info: SESSION, messages }));
    const open = { created: 2000 };
    const asked = user("msg_1", [text("dig")]);
    write([
      asked,
      assistant("msg_2", [text("Tw"), tool("c1", { status: "running", time: { start: 1 } })], { time: open }),
    ]);
    await importSources(kernel, [path], { formats });
    write([
      asked,
      assistant("msg_2", [text("Two feet."), tool("c1", done("a hole"))]),
      user("msg_3", [text("and then?")]),
    ]);
    const { sources, totals } = await importSources(kernel, [path], { formats });
    expect(totals).toMatchObject({ lost: 0, damaged: 0, openCalls: 0 });
    await using session = await kernel.session(sources[0]?.session as string);
    const line = (await session.page()).entries.filter(({ kind }) => kind === "message");
    expect(line.map(textOf)).toEqual(["dig", "Two feet.[tool-call]", "[tool-result]", "and then?"]);
    expect((await importSources(kernel, [path], { formats })).sources[0]?.status).toBe("unchanged");
  });

  test("file changes found by opencode are kept, with a new version for each change", async () => {
    const changed = (after: string) =>
      user("msg_1", [text("1")], { summary: { diffs: [{ file: "a", after }] } });
    const [first] = await recordsOf([changed("x")]);
    const [second] = await recordsOf([changed("y")]);
    expect(first).toMatchObject({
      id: "msg_1:changes",
      body: { kind: "raw", value: { diffs: [{ after: "x" }] } },
    });
    expect(first?.version).not.toEqual(second?.version);
  });

  test("exported sessions of opencode are recognized by content, even if their id was redacted", async () => {
    const folder = testFolder();
    const info = { ...SESSION, id: "REDACTED", parentID: "ses_0" };
    writeFileSync(join(folder, "ses_abc.json"), JSON.stringify({ info, messages: [] }));
    writeFileSync(join(folder, "other.json"), JSON.stringify({ info: { name: "x" }, messages: [] }));
    writeFileSync(join(folder, "list.json"), "[]");
    const found = await sourcesAt([folder], [opencodeFormat]);
    expect(found.map(({ source }) => [source.id, source.parent, source.title, source.cwd])).toEqual([
      ["ses_abc", "ses_0", "The garden", "/garden"],
    ]);
  });

  test("a cut export of opencode is read up to the cut", async () => {
    const path = exported([user("msg_1", [text("whole")]), user("msg_2", [text("cut")])]);
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, whole.slice(0, whole.indexOf('"cut"')));
    const [read] = await readAll([path], [opencodeFormat]);
    expect(read?.items.filter((item) => item.type === "record").map(({ id }) => id)).toEqual(["msg_1"]);
    expect(read?.items.filter((item) => item.type === "problem")).toHaveLength(1);
  });

  test("opencode's file tree from before its database is read", async () => {
    const root = join(testFolder(), "storage");
    const messages = [user("msg_1", [text("dig")]), assistant("msg_2", [tool("c1", done("a hole"))])];
    storage(root, messages, { ...SESSION, parentID: "ses_0" });
    mkdirSync(join(root, "todo"));
    writeFileSync(join(root, "todo/ses_1.json"), '[{"content":"water"}]');
    writeFileSync(join(root, "part/msg_2/prt_broken.json"), "{");
    const [read, ...others] = await readAll([root], [opencodeFormat]);
    expect(others).toEqual([]);
    expect(read?.source).toMatchObject({ id: "ses_1", parent: "ses_0", title: "The garden" });
    const records = read?.items.filter((item) => item.type === "record") ?? [];
    expect(records.map(({ id }) => id)).toEqual(["msg_1", "msg_2", "msg_2/prt_c1:result", "todo"]);
    expect(read?.items.filter((item) => item.type === "problem")).toMatchObject([
      { path: join(root, "part/msg_2/prt_broken.json"), severity: "lost" },
    ]);
    const fromExport = await recordsOf(messages);
    expect(records.slice(0, 3).map(({ version }) => version)).toEqual(
      fromExport.map(({ version }) => version),
    );
  });

  test("opencode's oldest layout, one folder per project, is read", async () => {
    const root = join(testFolder(), "storage/session");
    const files = {
      "info/ses_1.json": SESSION,
      "message/ses_1/msg_1.json": {
        role: "user",
        time: { created: 1 },
        parts: [text("held by the message")],
      },
      "message/ses_1/msg_2.json": { role: "assistant", time: { created: 2 } },
      "part/ses_1/msg_2/prt_1.json": text("beside it"),
    };
    for (const [path, value] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), JSON.stringify(value));
    }
    const [read, ...others] = await readAll([dirname(root)], [opencodeFormat]);
    expect(others).toEqual([]);
    const said = read?.items.flatMap((item) =>
      item.type === "record" && item.body.kind === "message" ? [item.body.message.parts] : [],
    );
    expect(said).toEqual([[text("held by the message")], [text("beside it")]]);
  });

  test("opencode's sessions are read from a database in use, and no file changes", async () => {
    const folder = testFolder();
    const path = join(folder, "opencode.db");
    const db = database(path);
    db.exec("PRAGMA journal_mode = WAL");
    addSession(db, "ses_1");
    addSession(db, "ses_2", "ses_1");
    addMessage(db, user("msg_1", [text("dig")]));
    addMessage(db, assistant("msg_2", [tool("c1", done("a hole"))]));
    addMessage(db, user("msg_3", [text("elsewhere")], { time: { created: 50 } }), "ses_2");
    db.prepare("INSERT INTO todo VALUES ('ses_1', 'water', 'open', 'high', 0)").run();
    db.exec("BEGIN");
    db.prepare("INSERT INTO message VALUES ('msg_9', 'ses_1', 9, 9, '{}')").run();
    const sums = () =>
      readdirSync(folder).map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex"),
      ]);
    const before = sums();
    const read = await readAll([folder], [opencodeFormat]);
    expect(sums()).toEqual(before);
    expect(before.map(([name]) => name)).toContain("opencode.db-wal");
    expect(read.map(({ source }) => [source.id, source.parent, source.title])).toEqual([
      ["ses_1", undefined, "Title of ses_1"],
      ["ses_2", "ses_1", "Title of ses_2"],
    ]);
    const idsOf = (index: number) =>
      read[index]?.items.flatMap((item) => (item.type === "record" ? [item.id] : []));
    expect(idsOf(0)).toEqual(["msg_1", "msg_2", "msg_2/prt_c1:result", "todos"]);
    expect(idsOf(1)).toEqual(["msg_3"]);
    expect(read[0]?.items[0]).toMatchObject({
      type: "session",
      createdAt: 1000,
      meta: { opencode: { projectID: "p", directory: "/garden", summary: { files: 2 } } },
    });
  });

  test("new messages in a database of opencode are found", async () => {
    const path = join(testFolder(), "opencode.db");
    const db = database(path);
    db.exec("PRAGMA journal_mode = WAL");
    addSession(db, "ses_1");
    addMessage(db, user("msg_1", [text("dig")]));
    const kernel = await testKernel();
    const formats = [opencodeFormat];
    await importSources(kernel, [path], { formats });
    addMessage(db, assistant("msg_2", [tool("c1", done("a hole"))]));
    const { totals } = await importSources(kernel, [path], { formats });
    expect(totals.added).toMatchObject({ messages: 2, toolCalls: 1, toolResults: 1 });
  });

  test("changed data of the same length is imported again", async () => {
    const path = join(testFolder(), "opencode.db");
    const db = database(path);
    addSession(db, "ses_1");
    addMessage(db, user("msg_1", [text("dig")]));
    db.prepare("INSERT INTO todo VALUES ('ses_1', 'water', 'open', 'high', 0)").run();
    const root = join(testFolder(), "storage");
    storage(root, [user("msg_2", [text("dig")])], { ...SESSION, id: "ses_2" });
    mkdirSync(join(root, "todo"));
    const write = (todo: string) =>
      writeFileSync(join(root, "todo/ses_2.json"), JSON.stringify([{ content: todo }]));
    write("water");
    const later = join(testFolder(), "opencode.db");
    const other = database(later);
    addSession(other, "ses_3");
    const add = other.prepare("INSERT INTO session_message VALUES (?, 'ses_3', ?, ?, 1, 1, ?)");
    add.run("msg_3", "user", 1, JSON.stringify({ text: "dig" }));
    add.run("msg_4", "model-switched", 2, JSON.stringify({ model: "water" }));
    const kernel = await testKernel();
    await importSources(kernel, [path, root, later], { formats: [opencodeFormat] });

    db.exec("UPDATE todo SET content = 'weeds'");
    write("weeds");
    other.exec(`UPDATE session_message SET data = '{"model":"weeds"}' WHERE id = 'msg_4'`);
    // Only a message tells by its time that a session is newer.
    db.exec("UPDATE message SET time_updated = 20000");
    other.exec("UPDATE session_message SET time_updated = 20000");
    const { sources } = await importSources(kernel, [path, root, later], { formats: [opencodeFormat] });
    for (const { session: id } of sources) {
      await using session = await kernel.session(id as string);
      const raw = (await session.page({ kinds: ["raw"] })).entries;
      expect(JSON.stringify(raw)).toContain("weeds");
      expect(JSON.stringify(raw)).not.toContain("water");
    }
    expect(sources).toHaveLength(3);
  });

  test("a grown answer in a database of opencode is noticed", async () => {
    const path = join(testFolder(), "opencode.db");
    const db = database(path);
    addSession(db, "ses_1");
    addMessage(db, assistant("msg_1", [{ ...text("Tw"), id: "prt_1" }]));
    db.prepare("UPDATE part SET data = ?, time_updated = 12345").run(JSON.stringify(text("Two feet.")));
    db.close();
    const [found] = await sourcesAt([path], [opencodeFormat]);
    expect(found?.source.modifiedAt).toBe(12345);
  });

  test("opencode's files are not read again if its database contains them", async () => {
    const folder = testFolder();
    const db = database(join(folder, "opencode.db"));
    addSession(db, "ses_1");
    addMessage(db, user("msg_1", [text("dig")]));
    db.close();
    storage(join(folder, "storage"), [user("msg_1", [text("dig")])]);
    storage(join(folder, "storage"), [user("msg_7", [text("not migrated")])], { ...SESSION, id: "ses_7" });
    const found = await sourcesAt([folder], [opencodeFormat]);
    expect(found.map(({ source }) => [source.id, source.path.endsWith(".db")])).toEqual([
      ["ses_1", true],
      ["ses_7", false],
    ]);
  });

  test("opencode's sessions are read from tables of later versions", async () => {
    const path = join(testFolder(), "opencode.db");
    const db = database(path);
    addSession(db, "ses_1");
    const add = (id: string, type: string, seq: number, data: Fields) =>
      db
        .prepare("INSERT INTO session_message VALUES (?, 'ses_1', ?, ?, ?, ?, ?)")
        .run(id, type, seq, seq, seq, JSON.stringify({ time: { created: seq }, ...data }));
    const content = [
      { type: "text", text: "Two feet." },
      {
        type: "tool",
        id: "c1",
        name: "dig",
        time: { created: 1, completed: 2 },
        state: { status: "completed", input: { depth: 2 }, content: [{ type: "text", text: "a hole" }] },
      },
    ];
    add("msg_1", "user", 1, { text: "dig" });
    add("msg_2", "assistant", 2, {
      model: { id: "m-1", providerID: "some" },
      content,
      cost: 1,
      tokens: TOKENS,
    });
    add("msg_3", "idle", 3, { outcome: "succeeded" });
    add("msg_4", "compaction", 4, { status: "completed", summary: "so far", recent: "" });
    db.close();
    const [read] = await readAll([path], [opencodeFormat]);
    const records = read?.items.filter((item) => item.type === "record") ?? [];
    expect(records.map(({ id, body }) => [id, body.kind])).toEqual([
      ["msg_1", "message"],
      ["msg_2", "message"],
      ["msg_2/1:usage", "usage"],
      ["msg_2/1:result", "message"],
      ["msg_3", "raw"],
      ["msg_4", "message"],
      ["msg_4:summary", "overlay"],
    ]);
    expect(bodyOf(records, "msg_2/1:result")).toMatchObject({
      message: { parts: [{ callId: "c1", output: [{ text: "a hole" }] }] },
    });
  });

  test("broken rows in a database of opencode are reported, and the others read", async () => {
    const path = join(testFolder(), "opencode.db");
    const db = database(path);
    addSession(db, "ses_1");
    addMessage(db, user("msg_1", [text("whole")]));
    db.prepare("INSERT INTO message VALUES ('msg_2', 'ses_1', 2000, 2000, '{')").run();
    db.prepare("INSERT INTO part VALUES ('prt_x', 'msg_1', 'ses_1', 1, 1, ?)").run(
      JSON.stringify(text("x".repeat(500))),
    );
    db.close();
    const [read] = await readAll([path], [opencodeFormat], { limits: { maxRecordBytes: 400 } });
    const problems = read?.items.filter((item) => item.type === "problem") ?? [];
    expect(problems.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^part prt_x: longer than 400/),
      expect.stringMatching(/^message msg_2: not JSON/),
    ]);
  });

  test("other tools' databases are not taken for opencode's", async () => {
    const folder = testFolder();
    const db = new DatabaseSync(join(folder, "opencode-other.db"));
    db.exec("CREATE TABLE session (id TEXT)");
    db.close();
    writeFileSync(join(folder, "other.db"), "no database at all");
    expect(await sourcesAt([folder], [opencodeFormat])).toEqual([]);
  });

  test("an unreadable or damaged database of opencode is reported", async () => {
    const folder = testFolder();
    const path = join(folder, "opencode.db");
    writeFileSync(path, "no database at all");
    const [broken] = await readAll([folder], [opencodeFormat]);
    expect(broken?.items).toEqual([
      {
        type: "problem",
        path,
        severity: "lost",
        reason: expect.stringContaining("cannot be read as a SQLite database"),
      },
    ]);
    writeFileSync(path, "");
    const db = database(path);
    addSession(db, "ses_1");
    const words = text("words ".repeat(100));
    db.exec("BEGIN");
    for (let index = 100; index < 300; index++) addMessage(db, user(`msg_${index}`, [words]));
    db.exec("COMMIT");
    db.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0, bytes.length / 2, bytes.length - 4096));
    const read = await readAll([folder], [opencodeFormat]);
    const items = read.flatMap((one) => one.items);
    expect(items.filter((item) => item.type === "problem").length).toBeGreaterThan(0);
  });

  test("opencode's data is searched in the data folder of the system", () => {
    const system = { home: "/people/me", platform: "linux", env: {} } as const;
    expect(opencodeFormat.homes(system)).toEqual(["/people/me/.local/share/opencode"]);
    expect(opencodeFormat.homes({ ...system, env: { XDG_DATA_HOME: "/data" } })).toEqual(["/data/opencode"]);
  });
});
