import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { piFormat } from "../../../src/histories/pi/pi-format.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import type { Entry } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, textOf } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

type Line = Record<string, unknown>;

const HEADER = {
  type: "session",
  version: 3,
  id: "s-1",
  timestamp: "2026-05-01T08:00:00.000Z",
  cwd: "/garden",
};

let clock = 0;

function stamp(): string {
  return new Date(Date.UTC(2026, 4, 1, 8, 0, ++clock)).toISOString();
}

function message(id: string, parentId: string | null, said: Line): Line {
  return { type: "message", id, parentId, timestamp: stamp(), message: { timestamp: 1, ...said } };
}

function user(id: string, parentId: string | null, text: string): Line {
  return message(id, parentId, { role: "user", content: [{ type: "text", text }] });
}

function assistant(id: string, parentId: string | null, content: unknown, more: Line = {}): Line {
  const who = { api: "some-api", provider: "some", model: "m-1", stopReason: "stop" };
  return message(id, parentId, { role: "assistant", content, ...who, ...more });
}

function result(id: string, parentId: string, callId: string, text: string, more: Line = {}): Line {
  const content = [{ type: "text", text }];
  return message(id, parentId, {
    role: "toolResult",
    toolCallId: callId,
    toolName: "dig",
    content,
    isError: false,
    ...more,
  });
}

function call(id: string, name = "dig"): Line {
  return { type: "toolCall", id, name, arguments: { depth: 2 } };
}

function jsonl(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function sessionFile(lines: readonly Line[], header: Line = HEADER): string {
  const path = join(testFolder(), "2026-05-01T08-00-00-000Z_s-1.jsonl");
  writeFileSync(path, jsonl([header, ...lines]));
  return path;
}

async function itemsOf(lines: readonly Line[], header?: Line): Promise<readonly Item[]> {
  const [read] = await readAll([sessionFile(lines, header)], [piFormat]);
  return read?.items ?? [];
}

async function recordsOf(lines: readonly Line[], header?: Line): Promise<readonly RecordItem[]> {
  return (await itemsOf(lines, header)).filter((item) => item.type === "record");
}

function bodyOf(records: readonly RecordItem[], id: string) {
  return records.find((record) => record.id === id)?.body;
}

async function lineOf(path: string): Promise<{ texts: string[]; log: Entry[] }> {
  const kernel = await testKernel();
  const report = await importSources(kernel, [path], { formats: [piFormat] });
  await using session = await kernel.session(report.sources[0]?.session as string);
  const { entries } = await session.page();
  const log: Entry[] = [];
  for (let seq = 1; ; seq++) {
    const entry = await session.entry(seq);
    if (!entry) return { texts: entries.filter(({ kind }) => kind === "message").map(textOf), log };
    log.push(entry);
  }
}

describe("pi", () => {
  test("pi's texts, thoughts, calls and results are read", async () => {
    const records = await recordsOf([
      user("a1", null, "plant a tree"),
      assistant("a2", "a1", [
        { type: "thinking", thinking: "where?", thinkingSignature: "sig" },
        { type: "text", text: "Here.", textSignature: "t" },
        call("c1"),
      ]),
      result("a3", "a2", "c1", "a hole"),
    ]);
    expect(records.map(({ id }) => id)).toEqual(["a1", "a2", "a3"]);
    expect(bodyOf(records, "a2")).toMatchObject({
      kind: "message",
      message: {
        role: "assistant",
        model: "m-1",
        parts: [
          { type: "reasoning", text: "where?", opaque: "sig" },
          { type: "text", text: "Here." },
          { type: "tool-call", callId: "c1", name: "dig", input: { depth: 2 } },
        ],
        meta: {
          pi: { extras: { 1: { textSignature: "t" } }, message: { provider: "some", stopReason: "stop" } },
        },
      },
    });
    expect(bodyOf(records, "a3")).toMatchObject({
      message: {
        role: "tool",
        parts: [
          { type: "tool-result", callId: "c1", name: "dig", isError: false, output: [{ text: "a hole" }] },
        ],
      },
    });
  });

  test("a session of pi takes its facts from the header and its name", async () => {
    const named = {
      type: "session_info",
      id: "a1",
      parentId: null,
      timestamp: stamp(),
      name: " The garden ",
    };
    const items = await itemsOf([named]);
    const facts = items.filter((item) => item.type === "session");
    expect(facts).toEqual([
      {
        type: "session",
        createdAt: Date.parse(HEADER.timestamp),
        meta: { pi: { version: 3, id: "s-1", timestamp: HEADER.timestamp, cwd: "/garden" } },
      },
      { type: "session", title: "The garden" },
    ]);
    const [found] = await sourcesAt([sessionFile([])], [piFormat]);
    expect(found?.source).toMatchObject({ id: "s-1", cwd: "/garden" });
  });

  test("pi's usage is reported once for each request, with cost and without overlaps", async () => {
    const usage = {
      input: 10,
      output: 5,
      cacheRead: 70,
      cacheWrite: 3,
      totalTokens: 88,
      cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 },
    };
    const warm = {
      type: "usage",
      id: "a3",
      parentId: "a2",
      timestamp: stamp(),
      kind: "cache_warm",
      provider: "some",
      model: "m-1",
      usage,
    };
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } };
    const records = await recordsOf([
      assistant("a1", null, [], { usage }),
      assistant("a2", "a1", [], { usage: zero }),
      warm,
    ]);
    const counts = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 70, cacheWriteTokens: 3, cost: 0.3 };
    expect(records.filter(({ body }) => body.kind === "usage").map(({ id, body }) => [id, body])).toEqual([
      [
        "a1:usage",
        {
          kind: "usage",
          usage: counts,
          model: "m-1",
          provider: "some",
          request: "a1",
          meta: { pi: { rest: { cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0 } } } },
        },
      ],
      ["a3", expect.objectContaining({ kind: "usage", usage: counts, model: "m-1" })],
    ]);
  });

  test("pi's images are kept, and a wrong label of an image is kept with it", async () => {
    const content = [
      { type: "image", data: PIXEL_PNG, mimeType: "image/png" },
      { type: "image", data: PIXEL_PNG, mimeType: "image/jpeg" },
      { type: "image", data: "not base64", mimeType: "image/png" },
    ];
    const [record] = await recordsOf([message("a1", null, { role: "user", content })]);
    expect(record?.body).toMatchObject({
      message: {
        parts: [
          { type: "data", data: PIXEL_PNG },
          { type: "data", data: PIXEL_PNG },
          { type: "raw", format: "pi", value: content[2] },
        ],
        meta: { pi: { extras: { 1: { mimeType: "image/jpeg" } } } },
      },
    });
  });

  test("an import of pi follows the branch of the last entry", async () => {
    const path = sessionFile([
      user("a1", null, "trunk"),
      assistant("a2", "a1", [{ type: "text", text: "left" }]),
      user("a3", "a2", "further left"),
      {
        type: "branch_summary",
        id: "a4",
        parentId: "a1",
        timestamp: stamp(),
        fromId: "a3",
        summary: "left was no good",
      },
      user("a5", "a4", "right"),
    ]);
    const { texts, log } = await lineOf(path);
    expect(texts).toEqual(["trunk", "left was no good", "right"]);
    expect(log.filter(({ kind }) => kind === "message")).toHaveLength(5);
  });

  test("an entry of pi without a parent starts a line of its own", async () => {
    const { texts } = await lineOf(
      sessionFile([user("a1", null, "one"), user("a2", "a1", "two"), user("a3", null, "anew")]),
    );
    expect(texts).toEqual(["anew"]);
  });

  test("a compaction of pi becomes a summary of the entries before the first kept one", async () => {
    const compaction = {
      type: "compaction",
      id: "a4",
      parentId: "a3",
      timestamp: stamp(),
      summary: "so far",
      firstKeptEntryId: "a3",
      tokensBefore: 900,
      details: { readFiles: ["x"] },
    };
    const records = await recordsOf([
      user("a1", null, "1"),
      user("a2", "a1", "2"),
      user("a3", "a2", "3"),
      compaction,
    ]);
    expect(bodyOf(records, "a4")).toEqual({
      kind: "overlay",
      edit: { type: "summarize", spans: [{ through: "a2" }], messages: [{ role: "user", text: "so far" }] },
      reason: "compaction",
      tokensBefore: 900,
    });
    expect(bodyOf(records, "a4:extra")).toMatchObject({
      kind: "raw",
      value: { type: "compaction", firstKeptEntryId: "a3", details: { readFiles: ["x"] } },
    });
  });

  test.each([
    ["keeps nothing", { firstKeptEntryId: "a3" }, 1],
    ["keeps what is not there", { firstKeptEntryId: "gone" }, 1],
    ["brings along what it keeps", { retainedTail: [{ role: "user", content: "kept words" }] }, 2],
  ])("a compaction of pi summarizes everything if it %s", async (_, kept, messages) => {
    const compaction = {
      type: "compaction",
      id: "a3",
      parentId: "a2",
      timestamp: stamp(),
      summary: "all",
      ...kept,
    };
    const records = await recordsOf([user("a1", null, "1"), user("a2", "a1", "2"), compaction]);
    const body = bodyOf(records, "a3");
    expect(body).toMatchObject({ kind: "overlay", edit: { type: "summarize", spans: [{ through: "a2" }] } });
    expect(body?.kind === "overlay" && body.edit.type === "summarize" && body.edit.messages).toHaveLength(
      messages,
    );
  });

  test("a context edit of pi becomes an overlay on its target", async () => {
    const edit = (id: string, parentId: string, targetId: string, replacement: unknown) => ({
      type: "context_edit",
      id,
      parentId,
      timestamp: stamp(),
      targetId,
      replacement,
    });
    const records = await recordsOf([
      user("a1", null, "1"),
      assistant("a2", "a1", [call("c1")]),
      result("a3", "a2", "c1", "very long"),
      edit("e1", "a3", "a1", null),
      edit("e2", "e1", "a3", { content: [{ type: "text", text: "short" }] }),
      edit("e3", "e2", "a1", { content: "said otherwise" }),
    ]);
    expect(["e1", "e2", "e3"].map((id) => bodyOf(records, id))).toMatchObject([
      { edit: { type: "hide", spans: [{ from: "a1", through: "a1" }] } },
      { edit: { type: "replace", target: { callId: "c1" }, parts: [{ type: "text", text: "short" }] } },
      {
        edit: {
          type: "replace",
          target: { record: "a1" },
          parts: [{ type: "text", text: "said otherwise" }],
        },
      },
    ]);
  });

  test("shell commands of the user are read, and those excluded from the context are hidden", async () => {
    const ran = {
      role: "bashExecution",
      command: "ls",
      output: "seeds",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    };
    const records = await recordsOf([
      message("a1", null, ran),
      message("a2", "a1", { ...ran, output: "", excludeFromContext: true }),
    ]);
    expect(bodyOf(records, "a1")).toMatchObject({
      message: {
        role: "user",
        parts: [{ text: "Ran `ls`" }, { text: "seeds" }],
        meta: { pi: { role: "bashExecution" } },
      },
    });
    expect(bodyOf(records, "a2:excluded")).toMatchObject({
      kind: "overlay",
      edit: { type: "hide", spans: [{ from: "a2", through: "a2" }] },
    });
  });

  test("messages of pi's extensions are read, and their state and labels are kept", async () => {
    const spoken = {
      type: "custom_message",
      id: "a1",
      parentId: null,
      timestamp: stamp(),
      customType: "x",
      content: "psst",
      display: false,
    };
    const state = {
      type: "custom",
      id: "a2",
      parentId: "a1",
      timestamp: stamp(),
      customType: "x",
      data: { n: 1 },
    };
    const label = {
      type: "label",
      id: "a3",
      parentId: "a2",
      timestamp: stamp(),
      targetId: "a1",
      label: "here",
    };
    const unknown = {
      type: "of the future",
      id: "a4",
      parentId: "a3",
      timestamp: stamp(),
      ["__proto__"]: { a: 1 },
    };
    const records = await recordsOf([spoken, state, label, unknown]);
    expect(bodyOf(records, "a1")).toMatchObject({
      message: {
        role: "user",
        parts: [{ text: "psst" }],
        meta: { pi: { type: "custom_message", entry: { customType: "x" } } },
      },
    });
    expect(["a2", "a3", "a4"].map((id) => bodyOf(records, id))).toEqual(
      [state, label, unknown].map((value) => ({ kind: "raw", value })),
    );
  });

  test("large fields of pi get their own record, and repeated output is dropped", async () => {
    const output = "leaf ".repeat(200);
    const details = { truncation: { content: output, lines: 3 }, diff: "+".repeat(5000) };
    const items = await itemsOf([
      assistant("a1", null, [call("c1")]),
      result("a2", "a1", "c1", output, { details }),
    ]);
    const records = items.filter((item) => item.type === "record");
    expect(bodyOf(records, "a2:extra")).toEqual({
      kind: "raw",
      value: {
        type: "message",
        id: "a2",
        message: { details: { truncation: { lines: 3 }, diff: details.diff } },
      },
    });
    expect(items.find(({ type }) => type === "copy")).toEqual({ type: "copy", bytes: output.length + 2 });
  });

  test("version 1 of pi's format, which has no ids and counts lines, is read", async () => {
    const bare = (line: Line) =>
      Object.fromEntries(Object.entries(line).filter(([key]) => key !== "id" && key !== "parentId"));
    const compaction = {
      type: "compaction",
      timestamp: stamp(),
      summary: "old",
      firstKeptEntryIndex: 3,
      tokensBefore: 5,
    };
    const lines = [user("", null, "1"), user("", null, "2"), user("", null, "3"), compaction].map(bare);
    const { version: _, ...header } = HEADER;
    const records = await recordsOf(lines, header);
    expect(records.map(({ id, parent }) => [id, parent])).toEqual(
      ["#1", "#2", "#3", "#4:extra", "#4"].map((id) => [id, undefined]),
    );
    expect(bodyOf(records, "#4")).toMatchObject({ edit: { type: "summarize", spans: [{ through: "#2" }] } });
  });

  test("version 2 of pi's format is read, where extensions are called hooks", async () => {
    const hook = message("a1", null, {
      role: "hookMessage",
      customType: "x",
      content: "from a hook",
      display: true,
    });
    const records = await recordsOf([hook], { ...HEADER, version: 2 });
    expect(bodyOf(records, "a1")).toMatchObject({
      message: { role: "user", parts: [{ text: "from a hook" }], meta: { pi: { role: "hookMessage" } } },
    });
  });

  test("a grown file of pi is read from where the last import stopped, and a partial line waits", async () => {
    const path = sessionFile([user("a1", null, "first"), user("a2", "a1", "second")]);
    const kernel = await testKernel();
    const formats = [piFormat];
    await importSources(kernel, [path], { formats });
    const next = JSON.stringify(user("a3", "a2", "third"));
    appendFileSync(path, next.slice(0, 20));
    const half = await importSources(kernel, [path], { formats });
    expect(half.totals.added.messages).toBe(0);
    appendFileSync(path, `${next.slice(20)}\n${jsonl([user("b1", "a1", "other way")])}`);
    const { totals, sources } = await importSources(kernel, [path], { formats });
    expect(totals.added.messages).toBe(2);
    expect(totals.found.messages).toBe(2);
    await using session = await kernel.session(sources[0]?.session as string);
    expect((await session.page()).entries.map(textOf)).toEqual(["first", "other way"]);
    expect((await importSources(kernel, [path], { formats })).sources[0]?.status).toBe("unchanged");
  });

  test("a resumed import of pi still knows the entry before the first kept one", async () => {
    const path = sessionFile([user("a1", null, "1"), user("a2", "a1", "2"), user("a3", "a2", "3")]);
    const [first] = await readAll([path], [piFormat]);
    const resume = first?.items.findLast((item) => item.type === "checkpoint");
    const compaction = {
      type: "compaction",
      id: "a4",
      parentId: "a3",
      timestamp: stamp(),
      summary: "s",
      firstKeptEntryId: "a3",
    };
    appendFileSync(path, jsonl([compaction]));
    const state = resume?.type === "checkpoint" ? resume.state : undefined;
    const [second] = await readAll([path], [piFormat], { ...(state !== undefined && { resume: state }) });
    const records = second?.items.filter((item) => item.type === "record") ?? [];
    expect(records.map(({ id }) => id)).toEqual(["a4:extra", "a4"]);
    expect(bodyOf(records, "a4")).toMatchObject({ edit: { spans: [{ through: "a2" }] } });
  });

  test("a file of pi with cycles, orphans and repeated ids is read completely", async () => {
    const path = sessionFile([
      user("a1", "a2", "behind the next"),
      user("a2", "a1", "behind the first"),
      user("a3", "a3", "behind itself"),
      user("a4", "nobody", "orphan"),
      user("a2", "a4", "a second of that name"),
    ]);
    const { log } = await lineOf(path);
    expect(log.filter(({ kind }) => kind === "message").map(textOf)).toEqual([
      "behind the next",
      "behind the first",
      "behind itself",
      "orphan",
      "a second of that name",
    ]);
  });

  test("broken lines of pi are reported, and the others read", async () => {
    const path = sessionFile([user("a1", null, "whole")]);
    appendFileSync(path, `{"type":"message","id":"a2"\n[1]\n${jsonl([user("a3", "a1", "whole too")])}`);
    const [read] = await readAll([path], [piFormat]);
    const problems = read?.items.filter((item) => item.type === "problem") ?? [];
    expect(problems.map(({ line, severity }) => [line, severity])).toEqual([
      [3, "lost"],
      [4, "lost"],
    ]);
    expect(read?.items.filter((item) => item.type === "record").map(({ id }) => id)).toEqual(["a1", "a3"]);
  });

  test("only files that begin with a header of pi are read as pi's", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "codex.jsonl"), '{"type":"session_meta","payload":{"id":"x"}}\n');
    writeFileSync(
      join(folder, "copilot.jsonl"),
      '{"type":"session.start","id":"x","timestamp":"2026-01-01T00:00:00Z"}\n',
    );
    writeFileSync(join(folder, "empty.jsonl"), "");
    expect(await sourcesAt([folder], [piFormat])).toEqual([]);
  });

  test("a session of pi counts as a sub-agent only in the folder of its parent", async () => {
    const folder = testFolder();
    const parentSession = "/elsewhere/2026-05-01T08-00-00-000Z_s-1.jsonl";
    const below = join(folder, "2026-05-01T08-00-00-000Z_s-1");
    mkdirSync(below);
    writeFileSync(join(below, "run.jsonl"), jsonl([{ ...HEADER, id: "s-2", parentSession }]));
    writeFileSync(join(folder, "fork.jsonl"), jsonl([{ ...HEADER, id: "s-3", parentSession }]));
    const parents = (await sourcesAt([folder], [piFormat])).map(({ source }) => [source.id, source.parent]);
    expect(Object.fromEntries(parents)).toEqual({ "s-2": "s-1", "s-3": undefined });
  });

  test("pi's sessions are searched in the agent's folder, or where the environment points", () => {
    const system = { home: "/people/me", platform: "linux", env: {} } as const;
    expect(piFormat.homes(system)).toEqual(["/people/me/.pi/agent/sessions"]);
    expect(piFormat.homes({ ...system, env: { PI_CODING_AGENT_DIR: "/x" } })).toEqual(["/x/sessions"]);
  });
});
