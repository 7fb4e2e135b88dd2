import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportSession } from "../../../src/histories/export-session.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import { piFormat } from "../../../src/histories/pi/pi-format.ts";
import { piWriter } from "../../../src/histories/pi/pi-writer.ts";
import type { BodyInput } from "../../../src/kernel/faces/log.ts";
import type { Kernel, Session } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll } from "../../support/items.ts";
import { testKernel } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

type Line = Record<string, unknown> & {
  type: string;
  id: string;
  parentId: string | null;
  message?: Record<string, unknown>;
};

const HEADER = {
  type: "session",
  version: 3,
  id: "s-1",
  timestamp: "2026-05-01T08:00:00.000Z",
  cwd: "/garden",
};

const at = (second: number) => new Date(Date.UTC(2026, 4, 1, 8, 0, second)).toISOString();

const entry = (second: number, id: string, parentId: string | null, fields: object) => ({
  id,
  parentId,
  timestamp: at(second),
  ...fields,
});

const said = (role: string, content: unknown, more: object = {}) => ({
  type: "message",
  message: { role, content, timestamp: 5, ...more },
});

const COST = { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 };
const USAGE = { input: 10, output: 5, cacheRead: 7, cacheWrite: 3, totalTokens: 25, cost: COST };
const WHO = { api: "some-api", provider: "some", model: "m-1" };

/** One of every record type that pi writes. */
const EVERYTHING = [
  entry(1, "0000000a", null, said("system", "be brief")),
  entry(2, "0000000b", "0000000a", said("user", "dig")),
  entry(
    3,
    "0000000c",
    "0000000b",
    said(
      "assistant",
      [
        { type: "thinking", thinking: "where?", thinkingSignature: "sig", redacted: false },
        { type: "text", text: "Here.", textSignature: "t" },
        { type: "toolCall", id: "c1", name: "dig", arguments: { depth: 2 }, thoughtSignature: "x" },
      ],
      { ...WHO, stopReason: "toolUse", usage: USAGE, responseId: "r1" },
    ),
  ),
  entry(
    4,
    "0000000d",
    "0000000c",
    said(
      "toolResult",
      [
        { type: "text", text: "a hole" },
        { type: "image", data: PIXEL_PNG, mimeType: "image/png" },
      ],
      {
        toolCallId: "c1",
        toolName: "dig",
        isError: false,
        details: { diff: "+".repeat(6000), exit: 0 },
      },
    ),
  ),
  entry(5, "0000000e", "0000000d", {
    type: "context_edit",
    targetId: "0000000d",
    replacement: { content: [{ type: "text", text: "short" }] },
  }),
  entry(6, "0000000f", "0000000e", { type: "context_edit", targetId: "0000000b", replacement: null }),
  entry(7, "00000010", "0000000f", {
    type: "compaction",
    summary: "so far",
    firstKeptEntryId: "0000000d",
    tokensBefore: 900,
    details: { readFiles: [] },
    usage: USAGE,
  }),
  entry(8, "00000011", "00000010", { type: "model_change", provider: "some", modelId: "m-2" }),
  entry(9, "00000012", "00000011", {
    type: "custom_message",
    customType: "x",
    content: "psst",
    display: false,
  }),
  entry(10, "00000013", "00000012", {
    type: "message",
    message: {
      role: "bashExecution",
      command: "ls `pwd`",
      output: "",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      excludeFromContext: true,
      timestamp: 9,
    },
  }),
  entry(11, "00000014", "0000000c", {
    type: "branch_summary",
    fromId: "00000013",
    summary: "that way was no good",
    usage: USAGE,
  }),
  entry(12, "00000015", "00000014", { type: "label", targetId: "0000000b", label: "start" }),
  entry(13, "00000016", "00000015", {
    type: "usage",
    kind: "cache_warm",
    provider: "some",
    model: "m-1",
    usage: USAGE,
  }),
  entry(14, "00000017", "00000016", { type: "session_info", name: "The garden" }),
  entry(15, "00000018", "00000017", { type: "custom", customType: "x", data: { n: 1 } }),
  entry(
    16,
    "00000019",
    null,
    said("user", [
      { type: "text", text: "anew" },
      { type: "mystery", of: "pi" },
    ]),
  ),
  entry(
    17,
    "0000001a",
    "00000019",
    said("assistant", [], { ...WHO, stopReason: "aborted", errorMessage: "stopped" }),
  ),
  entry(18, "0000001b", "0000001a", {
    type: "compaction",
    summary: "anew",
    tokensBefore: 4,
    retainedTail: [{ role: "user", content: [{ type: "text", text: "kept" }], timestamp: 3 }],
  }),
];

async function exported(kernel: Kernel, id: string): Promise<{ text: string; file: string; lines: Line[] }> {
  let text = "";
  let file = "";
  for await (const piece of exportSession(kernel, id, piWriter)) {
    text += piece.text;
    file = piece.file;
  }
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { text, file, lines };
}

/** Checks that pi can open the file: it needs a header, unique ids, and existing parents. */
function checkTree(lines: readonly Line[]): void {
  const [header, ...entries] = lines;
  expect(header).toMatchObject({
    type: "session",
    version: 3,
    id: expect.any(String),
    cwd: expect.any(String),
  });
  const ids = new Set<string>();
  for (const { id, parentId, timestamp } of entries) {
    expect(ids.has(id)).toBe(false);
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(parentId === null || ids.has(parentId)).toBe(true);
    expect(Date.parse(String(timestamp))).toBeGreaterThan(0);
    ids.add(id);
  }
}

/** The conversation as pi derives it: from the last entry back to the first. */
function pathOf(lines: readonly Line[]): Line[] {
  const byId = new Map(lines.slice(1).map((line) => [line.id, line]));
  const path: Line[] = [];
  for (let line = lines.at(-1); line; line = line.parentId === null ? undefined : byId.get(line.parentId))
    path.unshift(line);
  return path;
}

const textsOf = (lines: readonly Line[]) =>
  lines.flatMap(({ message }) => {
    const content = message?.content;
    if (typeof content === "string") return [content];
    return Array.isArray(content) ? [content.map(({ text, type }) => text ?? `(${type})`).join("|")] : [];
  });

async function imported(kernel: Kernel, lines: readonly object[]): Promise<{ id: string; path: string }> {
  const path = join(testFolder(), "s.jsonl");
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { sources, totals } = await importSources(kernel, [path], { formats: [piFormat] });
  expect(totals.lost).toBe(0);
  return { id: sources[0]?.session as string, path };
}

/** A session of our own. */
async function ownSession(kernel: Kernel): Promise<Session> {
  return kernel.session("garden", { title: "The garden", createdAt: Date.UTC(2026, 4, 1) });
}

async function append(session: Session, ...bodies: BodyInput[]): Promise<number> {
  const intake = await session.intake("test");
  return intake.append(bodies.map((body) => ({ body })));
}

const edit = (of: Extract<BodyInput, { kind: "overlay" }>["edit"]): BodyInput => ({
  kind: "overlay",
  author: "test",
  reason: "for the test",
  edit: of,
});

describe("writing pi", () => {
  test("a session of pi is written back unchanged", async () => {
    const kernel = await testKernel();
    const { id, path } = await imported(kernel, [HEADER, ...EVERYTHING]);
    const { lines, text, file } = await exported(kernel, id);
    checkTree(lines);
    expect(file).toBe("2026-05-01T08-00-00-000Z_s-1.jsonl");
    const original = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    // pi stores a usage with every reply; ours has none if nothing was used.
    const aborted = original[17].message;
    aborted.usage = expect.objectContaining({ input: 0, totalTokens: 0 });
    expect(lines).toEqual(original);
    const again = join(testFolder(), "again.jsonl");
    writeFileSync(again, text);
    const [before] = await readAll([path], [piFormat]);
    const [after] = await readAll([again], [piFormat]);
    const without = (items: readonly { type: string }[] = []) =>
      items.filter(({ type }) => type !== "checkpoint");
    expect(without(after?.items)).toEqual(without(before?.items));
  });

  test("a session of pi's version 1 is written as version 3", async () => {
    const kernel = await testKernel();
    const bare = (line: object) =>
      Object.fromEntries(Object.entries(line).filter(([key]) => !/^(id|parentId)$/.test(key)));
    const { version: _, ...header } = HEADER;
    const compaction = {
      type: "compaction",
      timestamp: at(9),
      summary: "old",
      firstKeptEntryIndex: 2,
      tokensBefore: 5,
    };
    const old = [
      header,
      ...[said("user", "1"), said("user", "2")].map((line, index) => ({
        ...bare(line),
        timestamp: at(index),
      })),
      compaction,
    ];
    const { id } = await imported(kernel, old);
    const { lines } = await exported(kernel, id);
    checkTree(lines);
    expect(textsOf(pathOf(lines))).toEqual(["1", "2"]);
    expect(lines.at(-1)).toMatchObject({
      type: "compaction",
      summary: "old",
      firstKeptEntryId: lines[2]?.id,
      tokensBefore: 5,
    });
    expect(lines.at(-1)).not.toHaveProperty("firstKeptEntryIndex");
  });

  test("a session of any origin can be written for pi", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    await session.append({ role: "system", text: "be brief" });
    await session.append({
      role: "user",
      parts: [
        { type: "text", text: "look" },
        { type: "data", data: PIXEL_PNG },
      ],
    });
    await session.append({
      role: "assistant",
      model: "m-1",
      parts: [
        { type: "reasoning", text: "", opaque: { cipher: "x" } },
        { type: "text", text: "I will." },
        { type: "tool-call", callId: "c1", name: "dig", input: {} },
        { type: "tool-call", callId: "c2", name: "water", input: {} },
        { type: "raw", format: "another", value: { kept: "for itself" } },
      ],
    });
    await append(session, {
      kind: "usage",
      usage: { inputTokens: 4, outputTokens: 2, cost: 0.5 },
      provider: "some",
    });
    await session.append({
      role: "tool",
      parts: [
        { type: "tool-result", callId: "c1", output: "a hole" },
        {
          type: "tool-result",
          callId: "c2",
          isError: true,
          output: [
            { type: "text", text: "dry" },
            { type: "data", data: PIXEL_PNG },
          ],
        },
      ],
    });
    await session.append({ role: "assistant", text: "Done." });
    await session.note("for people");
    const { lines } = await exported(kernel, session.id);
    checkTree(lines);
    expect(lines.map(({ type, message }) => message?.role ?? type)).toEqual([
      "session",
      "session_info",
      "system",
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
      "custom",
    ]);
    expect(lines[0]).toMatchObject({ id: "garden", timestamp: "2026-05-01T00:00:00.000Z" });
    expect(lines[1]).toMatchObject({ name: "The garden" });
    expect(lines[3]?.message?.content).toEqual([
      { type: "text", text: "look" },
      { type: "image", data: PIXEL_PNG, mimeType: "image/png" },
    ]);
    expect(lines[4]?.message).toMatchObject({
      content: [{ type: "text" }, { type: "toolCall", id: "c1" }, { type: "toolCall", id: "c2" }],
      provider: "some",
      model: "m-1",
      stopReason: "toolUse",
      usage: { input: 4, output: 2, totalTokens: 6, cost: { total: 0.5 } },
    });
    expect(lines[5]?.message).toMatchObject({
      toolCallId: "c1",
      toolName: "dig",
      isError: false,
      content: [{ text: "a hole" }],
    });
    expect(lines[6]?.message).toMatchObject({ toolCallId: "c2", toolName: "water", isError: true });
    expect(lines[7]?.message).toMatchObject({ stopReason: "stop", usage: { input: 0, cost: { total: 0 } } });
    expect(pathOf(lines)).toHaveLength(lines.length - 1);
  });

  test("branches are written for pi, and the active one last", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    const trunk = await session.append({ role: "user", text: "trunk" });
    await session.append({ role: "user", text: "left" });
    await session.rewind(trunk.seq);
    const right = await session.append({ role: "user", text: "right" });
    await session.append({ role: "user", text: "too far" });
    const grown = await exported(kernel, session.id);
    checkTree(grown.lines);
    expect(textsOf(grown.lines)).toEqual(["trunk", "left", "right", "too far"]);
    expect(textsOf(pathOf(grown.lines))).toEqual(["trunk", "right", "too far"]);
    await session.rewind(right.seq);
    const back = await exported(kernel, session.id);
    checkTree(back.lines);
    expect(textsOf(pathOf(back.lines))).toEqual(["trunk", "right"]);
    expect(back.lines.at(-1)).toMatchObject({ type: "custom", customType: "longhaul.leaf" });
  });

  test("only the active line is written if its order differs from the order of arrival", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    const first = await session.append({ role: "user", text: "frist" });
    await session.append({ role: "user", text: "second" });
    await session.replace(first.seq, { role: "user", text: "first" });
    const { lines } = await exported(kernel, session.id);
    checkTree(lines);
    expect(textsOf(lines)).toEqual(["first", "second"]);
  });

  test("a fork is written for pi with its shared messages", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    const shared = await session.append({ role: "user", text: "shared" });
    await session.append({ role: "user", text: "not shared" });
    await using fork = await session.fork({ at: shared.seq });
    await fork.append({ role: "user", text: "own" });
    const { lines } = await exported(kernel, fork.id);
    checkTree(lines);
    expect(textsOf(lines)).toEqual(["shared", "own"]);
  });

  test("a summary of all earlier messages is written as a compaction of pi", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    for (const text of ["1", "2", "3"]) await session.append({ role: "user", text });
    const ranges = [{ session: session.id, from: 1, to: 2 }];
    const messages = [{ role: "user", text: "one and two" } as const];
    await append(session, edit({ type: "summarize", ranges, messages }));
    await append(session, { kind: "usage", usage: { outputTokens: 9 } });
    await session.append({ role: "user", text: "4" });
    const { lines } = await exported(kernel, session.id);
    checkTree(lines);
    const kept = lines.find((line) => textsOf([line])[0] === "3");
    expect(lines.find(({ type }) => type === "compaction")).toMatchObject({
      summary: "one and two",
      firstKeptEntryId: kept?.id,
      usage: { output: 9 },
    });
    expect(textsOf(pathOf(lines))).toEqual(["1", "2", "3", "4"]);
  });

  test("a summary of everything is written as a compaction that keeps nothing", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    await session.append({ role: "user", text: "1" });
    const summary = await session.append({ role: "assistant", text: "it was one" });
    const ranges = [{ session: session.id, from: 1, to: 2 }];
    await append(session, edit({ type: "summarize", ranges, entry: summary.seq }));
    const { lines } = await exported(kernel, session.id);
    checkTree(lines);
    expect(lines.at(-1)).toMatchObject({
      type: "compaction",
      summary: "it was one",
      firstKeptEntryId: lines.at(-1)?.id,
    });
  });

  test("hidden, replaced and partly summarized messages are written as context edits of pi", async () => {
    const kernel = await testKernel();
    await using session = await ownSession(kernel);
    await session.append({ role: "user", text: "1" });
    await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c1", name: "dig", input: {} }],
    });
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "c1", output: "long" }] });
    await session.append({
      role: "user",
      parts: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    });
    const range = (from: number, to: number) => [{ session: session.id, from, to }];
    await append(
      session,
      edit({ type: "replace", target: { callId: "c1" }, parts: [{ type: "text", text: "short" }] }),
      edit({ type: "replace", target: { seq: 4, part: 1 }, parts: [{ type: "text", text: "B" }] }),
      edit({
        type: "replace",
        target: { seq: 3 },
        parts: [{ type: "tool-result", callId: "c1", output: "shorter" }],
      }),
      edit({ type: "hide", ranges: range(2, 3) }),
      edit({ type: "summarize", ranges: range(4, 4), messages: [{ role: "user", text: "a to b" }] }),
    );
    const taken = await append(session, edit({ type: "hide", ranges: range(1, 1) }));
    await append(session, edit({ type: "revert", overlay: taken }));
    const { lines } = await exported(kernel, session.id);
    checkTree(lines);
    const [, , , called, answered, both] = lines;
    const edits = lines.filter(({ type }) => type === "context_edit");
    expect(edits.map(({ targetId, replacement }) => [targetId, replacement])).toEqual([
      [answered?.id, { content: [{ type: "text", text: "short" }] }],
      [
        both?.id,
        {
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "B" },
          ],
        },
      ],
      [answered?.id, { content: [{ type: "text", text: "shorter" }] }],
      [called?.id, null],
      [answered?.id, null],
      [both?.id, null],
    ]);
    expect(lines.at(-1)).toMatchObject({ type: "custom_message", content: "a to b" });
  });

  test("new entries get ids that no old entry has", async () => {
    const kernel = await testKernel();
    // The first id that the writer would generate.
    const lines = [
      HEADER,
      entry(1, "9e3779b1", null, said("user", "old")),
      entry(2, "9e3779b1", "9e3779b1", said("user", "twin")),
    ];
    const { id } = await imported(kernel, lines);
    await using session = await kernel.session(id);
    await session.append({ role: "user", text: "new" });
    const written = await exported(kernel, id);
    checkTree(written.lines);
    expect(textsOf(pathOf(written.lines))).toEqual(["old", "twin", "new"]);
  });
});
