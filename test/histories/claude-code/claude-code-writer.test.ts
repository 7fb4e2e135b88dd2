import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { claudeCodeFormat } from "../../../src/histories/claude-code/claude-code-format.ts";
import { claudeCodeWriter } from "../../../src/histories/claude-code/claude-code-writer.ts";
import { exportSession } from "../../../src/histories/export-session.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { OverlayTarget } from "../../../src/kernel/faces/window.ts";
import type { Entry, Kernel, Message, PartInput, SessionId } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import {
  call,
  folderWith,
  type Line,
  line,
  PIXEL,
  progress,
  prompt,
  result,
  SESSION,
  said,
  text,
  textOfLines,
} from "./sample.ts";

/** The exported files of a session, by name. */
async function exported(kernel: Kernel, id: SessionId): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for await (const piece of exportSession(kernel, id, claudeCodeWriter))
    files.set(piece.file, (files.get(piece.file) ?? "") + piece.text);
  return files;
}

function linesOf(file: string | undefined): readonly Line[] {
  return (file ?? "")
    .trimEnd()
    .split("\n")
    .map((one) => JSON.parse(one));
}

/** Imports files and returns their kernel. */
async function importedFrom(files: Iterable<readonly [string, string]>): Promise<Kernel> {
  const folder = testFolder();
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const kernel = await testKernel();
  const report = await importSources(kernel, [folder], { formats: [claudeCodeFormat] });
  expect(report.problems).toEqual([]);
  return kernel;
}

async function importedFolder(folder: string): Promise<Kernel> {
  const kernel = await testKernel();
  const report = await importSources(kernel, [folder], { formats: [claudeCodeFormat] });
  expect(report.problems).toEqual([]);
  return kernel;
}

/** Content of a session: its entries except line entries, and which messages are on the line. */
async function contentOf(kernel: Kernel, id: SessionId) {
  await using session = await kernel.session(id);
  const entries = await session.read({ from: 1, limit: 500 });
  const [current] = await session.lines(1);
  const isOnLine = ({ seq }: Entry) =>
    (current?.ranges ?? []).some((range) => range.from <= seq && seq <= range.to);
  const record = await session.record();
  return {
    entries: entries.filter(({ kind }) => kind !== "line").map(({ seq: _, id: __, ...entry }) => entry),
    line: entries.filter((entry) => entry.kind === "message").map(isOnLine),
    meta: { ...record.meta, source: undefined },
  };
}

/** The messages of a session's line, without import metadata. */
async function messagesOf(kernel: Kernel, id: SessionId): Promise<readonly Message[]> {
  await using session = await kernel.session(id);
  const page = await session.page({ limit: 500 });
  return page.entries.flatMap((entry) => {
    if (entry.kind !== "message") return [];
    const { "claude-code": _, at: __, ...meta } = entry.message.meta ?? {};
    const { meta: ___, ...message } = entry.message;
    return [Object.keys(meta).length > 0 ? { ...message, meta } : message];
  });
}

const hook = { type: "hook_progress", hookName: "Stop", command: "bell" };

const lines = [
  { type: "file-history-snapshot", messageId: "u1", snapshot: { timestamp: "2026-05-04T07:59:59.000Z" } },
  prompt("u1", null, "Water them", { permissionMode: "plan" }),
  said("a1", "u1", "m1", { type: "thinking", thinking: "Dry.", signature: "sig" }),
  said("a2", "a1", "m1", call("t1", "Read", { file_path: "/garden/bed.ts" })),
  result("r1", "a2", "t1", "dry", { stdout: "dry", interrupted: false }),
  said("a3", "a2", "m1", { ...call("t2", "Task", { prompt: "Find it" }), caller: { type: "direct" } }),
  progress("p1", "a3", "t2", {
    type: "agent_progress",
    agentId: "ab12",
    prompt: "Find it",
    message: {
      type: "user",
      uuid: "k1",
      timestamp: "2026-05-04T08:00:20.000Z",
      message: { role: "user", content: "Find it" },
    },
  }),
  result("r2", "a3", "t2", "Behind the shed", {
    status: "completed",
    log: "step of the search\n".repeat(400),
  }),
  said("a4", "r2", "m2", text("Found."), { gitBranch: "hose" }),
  progress("p2", "a4", "x", hook),
  line("system", "s1", "p2", { subtype: "turn_duration", durationMs: 12 }),
  prompt("u2", "s1", [
    text("What is this?"),
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]),
  said("a5", "u2", "m3", text("A pixel.")),
  prompt("u3", "s1", "Go on"),
  line("system", "c1", "u3", {
    subtype: "microcompact_boundary",
    microcompactMetadata: { preTokens: 900, tokensSaved: 300, compactedToolIds: ["t1"] },
  }),
  line("system", "b1", null, {
    subtype: "compact_boundary",
    logicalParentUuid: "c1",
    compactMetadata: { trigger: "manual", preTokens: 600 },
  }),
  prompt("z1", "b1", "They looked for a hose.", { isCompactSummary: true }),
  said("a6", "z1", "m4", text("And found it.")),
  { type: "custom-title", customTitle: "The hose", sessionId: SESSION },
];

describe("a session of Claude Code", () => {
  test("a session of Claude Code is written back with its branches, edits and sub-agents", async () => {
    const folder = folderWith({
      [`${SESSION}.jsonl`]: lines,
      [`${SESSION}/tool-results/t1.txt`]: "a very long list",
      [`${SESSION}/subagents/agent-cd34.jsonl`]: [
        prompt("k9", null, "Dig", { isSidechain: true, agentId: "cd34" }),
      ],
      [`${SESSION}/subagents/agent-cd34.meta.json`]: '{"agentType":"Digger"}',
    });
    const first = await importedFolder(folder);
    const files = await exported(first, `claude-code/${SESSION}`);
    const second = await importedFrom(files);
    expect([...files.keys()].sort()).toEqual([
      `${SESSION}.jsonl`,
      `${SESSION}/subagents/agent-ab12.jsonl`,
      `${SESSION}/subagents/agent-ab12.meta.json`,
      `${SESSION}/subagents/agent-cd34.jsonl`,
      `${SESSION}/subagents/agent-cd34.meta.json`,
      `${SESSION}/tool-results/t1.txt`,
    ]);
    for (const id of ["", "/agent-cd34"].map((child) => `claude-code/${SESSION}${child}`))
      expect(await contentOf(second, id)).toEqual(await contentOf(first, id));
    const agent = `claude-code/${SESSION}/agent-ab12`;
    expect((await contentOf(second, agent)).entries).toEqual((await contentOf(first, agent)).entries);
  });

  test("a message of Claude Code that was imported while it grew is written once", async () => {
    const folder = testFolder();
    const path = join(folder, `${SESSION}.jsonl`);
    const kernel = await testKernel();
    for (const count of [3, 4, 6, 8, 12]) {
      writeFileSync(path, textOfLines(lines.slice(0, count)));
      await importSources(kernel, [path], { formats: [claudeCodeFormat] });
    }
    const written = linesOf((await exported(kernel, `claude-code/${SESSION}`)).get(`${SESSION}.jsonl`));
    const uuids = written.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]));
    expect(uuids).toEqual(["u1", "a1", "a2", "a3", "r1", "r2", "a4", "p2", "s1", "u2"]);
  });

  test("a written session of Claude Code has a complete chain of parents", async () => {
    const kernel = await importedFolder(folderWith({ [`${SESSION}.jsonl`]: lines }));
    const written = linesOf((await exported(kernel, `claude-code/${SESSION}`)).get(`${SESSION}.jsonl`));
    const parents = new Map(written.map(({ uuid, parentUuid }) => [uuid, parentUuid]));
    expect(parents.get("u3")).toBe(parents.get("u2"));
    expect(parents.get("b1")).toBeNull();
    for (const [uuid, parent] of parents)
      if (uuid !== undefined && parent !== null) expect(parents.has(parent)).toBe(true);
    expect(written.filter(({ type }) => type === "assistant")[0]).toMatchObject({
      sessionId: SESSION,
      cwd: "/garden",
      version: "2.1.40",
      requestId: "req_m1",
      message: {
        id: "m1",
        model: "claude-opus-4-6",
        usage: { input_tokens: 3, cache_read_input_tokens: 400 },
      },
    });
  });
});

describe("a session of another agent written for Claude Code", () => {
  test("a session of another agent is read again with the same messages", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk", { title: "Hoses" });
    await session.append({ role: "system", text: "You are a gardener." });
    await session.append({ role: "user", text: "Look", meta: { mood: "good" } });
    await session.append({
      role: "assistant",
      model: "gpt-9",
      parts: [
        { type: "reasoning", text: "hm", opaque: { ciphertext: "x" } },
        { type: "text", text: "I look." },
        { type: "tool-call", callId: "c1", name: "look", input: "at the bed" },
        { type: "raw", format: "codex", value: { type: "web_search_call" } },
      ],
    });
    await session.append({
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId: "c1",
          name: "look",
          isError: true,
          output: [
            { type: "text", text: "dark" },
            { type: "raw", format: "codex", value: { type: "input_audio" } },
            { type: "data", data: PIXEL, mime: "image/png" },
          ],
        },
      ],
    });
    await session.append({ role: "assistant", parts: [{ type: "reasoning", text: "only thought" }] });
    await session.append({ role: "tool", text: "not a result" });
    await session.append({ role: "user", parts: [{ type: "data", data: PIXEL, name: "bed.png" }] });
    const files = await exported(kernel, "a talk");
    const again = await importedFrom(files);
    const [id] = (await again.sessions()).map((one) => one.id) as [string];
    expect(await messagesOf(again, id)).toEqual(await messagesOf(kernel, "a talk"));
    await using reread = await again.session(id);
    expect((await reread.record()).title).toBe("Hoses");
    expect(await exported(kernel, "a talk")).toEqual(files);
  });

  test("a session of another agent is written with the content that Claude Code can resume only", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({
      role: "assistant",
      parts: [
        { type: "reasoning", text: "unsigned" },
        { type: "tool-call", callId: "c1", name: "look", input: "at the bed" },
      ],
    });
    await session.append({ role: "assistant", parts: [{ type: "reasoning", text: "unsigned" }] });
    const [file] = [...(await exported(kernel, "a talk")).values()];
    const contents = linesOf(file).map(({ message }) => (message as { content: unknown }).content);
    expect(contents).toEqual([
      [{ type: "tool_use", id: "c1", name: "look", input: { input: "at the bed" } }],
      [{ type: "text", text: "(no content)" }],
    ]);
  });

  test("a session that was rewound ends at the rewound message", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    for (const words of ["one", "two", "three", "four"]) await session.append({ role: "user", text: words });
    await session.rewind(3);
    await session.append({ role: "user", text: "other" });
    await session.rewind(2);
    const again = await importedFrom(await exported(kernel, "a talk"));
    const [id] = (await again.sessions()).map((one) => one.id) as [string];
    expect((await messagesOf(again, id)).map(({ parts }) => parts)).toEqual([
      [{ type: "text", text: "one" }],
      [{ type: "text", text: "two" }],
    ]);
    expect((await contentOf(again, id)).line).toEqual([true, true, false, false, false]);
  });

  test("the edits of a window are written as compactions and replacements of Claude Code", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    const intake = await session.intake("test");
    const edit = (body: object) => ({
      body: { kind: "overlay", author: "longhaul", reason: "full", ...body } as never,
    });
    await session.append({ role: "user", text: "one" });
    await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c1", name: "look", input: {} }],
    });
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "c1", output: "long" }] });
    await session.append({ role: "user", text: "two" });
    const ranges = [{ session: "a talk", from: 1, to: 3 }];
    const messages = [{ role: "user", parts: [{ type: "text", text: "Before: one." }] }];
    await intake.append([
      edit({ edit: { type: "replace", target: { callId: "c1" }, parts: [{ type: "text", text: "short" }] } }),
      edit({ edit: { type: "summarize", ranges, messages }, tokensBefore: 500 }),
      edit({ edit: { type: "hide", ranges } }),
    ]);
    await session.append({ role: "user", text: "three" });
    const files = await exported(kernel, "a talk");
    const [file] = [...files.values()];
    expect(linesOf(file).slice(4, 7)).toMatchObject([
      {
        type: "content-replacement",
        replacements: [{ kind: "tool-result", toolUseId: "c1", replacement: "short" }],
      },
      {
        subtype: "compact_boundary",
        parentUuid: null,
        compactMetadata: { preTokens: 500, preservedSegment: {} },
      },
      { isCompactSummary: true, message: { content: "Before: one." } },
    ]);
    const again = await importedFrom(files);
    const [id] = (await again.sessions()).map((one) => one.id) as [string];
    expect(await messagesOf(again, id)).toEqual(await messagesOf(kernel, "a talk"));
    const overlays = (await contentOf(again, id)).entries.flatMap((entry) =>
      entry.kind === "overlay" ? [entry.edit] : [],
    );
    expect(overlays).toMatchObject([
      { type: "replace", target: { callId: "c1" }, parts: [{ text: "short" }] },
      { type: "summarize", ranges: [{ from: 1, to: 3 }], messages },
    ]);
  });

  test("replaced tool results are written wherever they are in their message", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "one" });
    const call = (callId: string) => ({ type: "tool-call", callId, name: "look", input: {} }) as const;
    const result = (callId: string, output: string) => ({ type: "tool-result", callId, output }) as const;
    await session.append({ role: "assistant", parts: [call("c1")] });
    const { seq } = await session.append({
      role: "user",
      parts: [{ type: "text", text: "Here it is." }, result("c1", "long")],
    });
    await session.append({ role: "assistant", parts: [call("c2"), call("c3")] });
    const both = await session.append({
      role: "tool",
      parts: [result("c2", "long"), result("c3", "long")],
    });
    const replace = (target: OverlayTarget, ...parts: PartInput[]) =>
      session.overlays.add({ type: "replace", target, parts }, "full");
    await replace({ seq }, { type: "text", text: "short" });
    await replace({ seq, part: 1 }, result("c1", "shorter"));
    await replace({ seq: both.seq }, result("c2", "two"), result("c3", "three"));
    const [file] = [...(await exported(kernel, "a talk")).values()];
    const lines = linesOf(file).filter(({ type }) => type === "content-replacement");
    const replaced = (toolUseId: string, replacement: string) => ({
      kind: "tool-result",
      toolUseId,
      replacement,
    });
    expect(lines.map(({ replacements }) => replacements)).toEqual([
      [replaced("c1", "short")],
      [replaced("c1", "shorter")],
      [replaced("c2", "two"), replaced("c3", "three")],
    ]);
  });

  test("reverted edits are not written", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "one" });
    const intake = await session.intake("test");
    const parts = [{ type: "text", text: "short" }];
    const overlay = { kind: "overlay", author: "longhaul", reason: "full" };
    const replace = { ...overlay, edit: { type: "replace", target: { callId: "c1" }, parts } };
    const seq = await intake.append([{ body: replace as never }]);
    await intake.append([{ body: { ...overlay, edit: { type: "revert", overlay: seq } } as never }]);
    const [file] = [...(await exported(kernel, "a talk")).values()];
    expect(linesOf(file).map(({ type }) => type)).toEqual(["user"]);
  });

  test("sub-agents are written with their session", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "one" });
    await using child = await session.child({ id: "an errand" });
    await child.append({ role: "user", text: "dig" });
    const files = await exported(kernel, "a talk");
    const again = await importedFrom(files);
    const sessions = await again.sessions();
    expect(sessions.map(({ relation }) => relation).sort()).toEqual(["child", undefined]);
    const aside = sessions.find(({ relation }) => relation === "child")?.id as string;
    expect(await messagesOf(again, aside)).toEqual(await messagesOf(kernel, "an errand"));
  });
});
