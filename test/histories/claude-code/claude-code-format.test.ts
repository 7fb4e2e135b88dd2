import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claudeCodeFormat } from "../../../src/histories/claude-code/claude-code-format.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { lastVersions, lineEnds, readGrowing } from "../../support/growing.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
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
  sessionFile,
  text,
  textOfLines,
} from "./sample.ts";

async function itemsOf(lines: readonly Line[]): Promise<readonly Item[]> {
  return (await readAll([sessionFile(lines)], [claudeCodeFormat]))[0]?.items ?? [];
}

function recordsIn(items: readonly Item[]): readonly RecordItem[] {
  return items.filter((item) => item.type === "record");
}

async function recordsOf(lines: readonly Line[]): Promise<readonly RecordItem[]> {
  return recordsIn(await itemsOf(lines));
}

function messagesOf(records: readonly RecordItem[]) {
  return records.flatMap(({ body, ...record }) =>
    body.kind === "message" ? [{ ...record, ...body.message }] : [],
  );
}

function idsOf(records: readonly RecordItem[]): readonly string[] {
  return records.map(({ id }) => id);
}

function copiedBytes(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + (item.type === "copy" ? item.bytes : 0), 0);
}

/** The stored remainder of a result outside its message. */
function leftOf(records: readonly RecordItem[], uuid: string): unknown {
  const message = messagesOf(records).find(({ id }) => id === uuid);
  const raw = records.find(({ id }) => id === `${uuid}:toolUseResult`)?.body;
  const meta = message?.meta?.["claude-code"] as { toolUseResult?: unknown } | undefined;
  return raw?.kind === "raw" ? (raw.value as Line).toolUseResult : meta?.toolUseResult;
}

describe("finding sessions of Claude Code", () => {
  test("the id of a session is the UUID in its file name, whatever surrounds it", async () => {
    const path = sessionFile([prompt("u1", null, "Hello")], `2026-05-04-${SESSION}.jsonl`);
    const [found] = await sourcesAt([path], [claudeCodeFormat]);
    expect(found?.source).toMatchObject({ id: SESSION, path, cwd: "/garden" });
  });

  test("the id of a session in a file with another name comes from its lines", async () => {
    const [found] = await sourcesAt(
      [sessionFile([prompt("u1", null, "Hello")], "talk.jsonl")],
      [claudeCodeFormat],
    );
    expect(found?.source.id).toBe(SESSION);
  });

  test("files of other tools are ignored", async () => {
    const folder = folderWith({
      [`rollout-2026-01-01T00-00-00-${SESSION}.jsonl`]: [{ type: "session_meta", payload: { id: SESSION } }],
      [`${SESSION}.jsonl`]: [{ type: "session", version: 3, id: SESSION, cwd: "/garden" }],
      "session-1.jsonl": [{ sessionId: SESSION, projectHash: "x", startTime: "2026-01-01T00:00:00Z" }],
      "notes.jsonl": "not json at all\n",
      "empty.jsonl": "",
    });
    expect(await sourcesAt([folder], [claudeCodeFormat])).toEqual([]);
  });

  test("a session is recognized even if its first line is longer than the head of the file", async () => {
    const long = prompt("u1", null, "x".repeat(100_000));
    const [found] = await sourcesAt([sessionFile([long], "talk.jsonl")], [claudeCodeFormat]);
    expect(found?.source.id).toBe(SESSION);
  });

  test("sub-agents are sources of their own under their session", async () => {
    const aside = { isSidechain: true, agentId: "ab12" };
    const folder = folderWith({
      [`${SESSION}.jsonl`]: [prompt("u1", null, "Hello")],
      [`${SESSION}/subagents/agent-ab12.jsonl`]: [prompt("s1", null, "Look", aside)],
      [`${SESSION}/subagents/agent-ab12.meta.json`]: '{"agentType":"Explore"}',
      [`${SESSION}/tool-results/toolu_9.txt`]: "long",
    });
    const read = await readAll([folder], [claudeCodeFormat]);
    expect(read.map(({ source }) => source)).toMatchObject([
      { id: SESSION, paths: [join(folder, `${SESSION}.jsonl`), join(folder, SESSION, "tool-results")] },
      { id: `${SESSION}/agent-ab12`, parent: SESSION },
    ]);
    const [, agent] = read;
    expect(idsOf(recordsIn(agent?.items ?? []))).toEqual(["s1"]);
    expect(agent?.items).toContainEqual({
      type: "session",
      meta: { "claude-code": expect.objectContaining({ agent: { agentType: "Explore" }, agentId: "ab12" }) },
    });
  });

  test("sessions are searched in the folder of the environment variable, or in the default one", () => {
    const system = { home: "/people/ada", platform: "linux", env: {} } as const;
    expect(claudeCodeFormat.homes(system)).toContain("/people/ada/.claude/projects");
    expect(claudeCodeFormat.homes({ ...system, env: { CLAUDE_CONFIG_DIR: "/data/claude" } })).toEqual([
      "/data/claude/projects",
    ]);
  });
});

describe("messages", () => {
  const turn = [
    prompt("u1", null, [
      text("Water them"),
      { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
    ]),
    said("a1", "u1", "m1", { type: "thinking", thinking: "Dry soil.", signature: "sig" }),
    said("a2", "a1", "m1", call("t1", "Read", { file_path: "/garden/bed.ts" })),
    result("r1", "a2", "t1", "dry"),
    said("a3", "a2", "m1", call("t2", "Bash", { command: "water" }), {
      requestId: "req_last",
    }),
    result("r2", "a3", "t2", [text("wet")]),
    said("a4", "r2", "m2", text("Done.")),
  ];

  test("the lines of one message become one record before the results of its tools", async () => {
    const records = await recordsOf(turn);
    expect(idsOf(records)).toEqual(["u1", "msg:m1", "msg:m1:usage", "r1", "r2", "msg:m2", "msg:m2:usage"]);
    expect(messagesOf(records)).toMatchObject([
      { id: "u1", role: "user", parts: [{ type: "text" }, { type: "data", data: PIXEL }] },
      {
        id: "msg:m1",
        version: "3",
        role: "assistant",
        model: "claude-opus-4-6",
        parts: [
          { type: "reasoning", text: "Dry soil.", opaque: "sig" },
          { type: "tool-call", callId: "t1", name: "Read" },
          { type: "tool-call", callId: "t2", name: "Bash" },
        ],
        meta: { "claude-code": { id: "m1", uuids: ["a1", "a2", "a3"], delays: [0, 1000, 3000] } },
      },
      { id: "r1", role: "tool", parts: [{ type: "tool-result", callId: "t1", output: "dry" }] },
      { id: "r2", role: "tool" },
      { id: "msg:m2", role: "assistant" },
    ]);
    expect(records.every(({ parent }) => parent === undefined)).toBe(true);
  });

  test("the usage of a message is reported once, from its last line", async () => {
    const usage = {
      input_tokens: 5,
      output_tokens: 99,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      service_tier: "priority",
    };
    const last = said("a2", "a1", "m1", text("b"));
    const records = await recordsOf([
      prompt("u1", null, "Hello"),
      said("a1", "u1", "m1", text("a")),
      { ...last, message: { ...(last.message as object), usage } },
    ]);
    expect(records.flatMap(({ body }) => (body.kind === "usage" ? [body] : []))).toEqual([
      {
        kind: "usage",
        usage: {
          inputTokens: 5,
          outputTokens: 99,
          cacheReadTokens: 10,
          cacheWriteTokens: 30,
          cacheWriteHourTokens: 10,
        },
        model: "claude-opus-4-6",
        request: "req_m1",
        meta: { "claude-code": { service_tier: "priority" } },
      },
    ]);
  });

  test("a synthetic message without a model has no usage", async () => {
    const made = said("a1", "u1", "m1", text("No response requested."));
    const message = {
      ...(made.message as object),
      model: "<synthetic>",
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    expect(idsOf(await recordsOf([prompt("u1", null, "x"), { ...made, message }]))).toEqual(["u1", "msg:m1"]);
  });

  test("repeated fields are stored once, and with a message only where they differ", async () => {
    const items = await itemsOf([
      prompt("u1", null, "Hello"),
      prompt("u2", "u1", "Again", { gitBranch: "dry" }),
    ]);
    expect(items).toContainEqual({
      type: "session",
      meta: {
        "claude-code": {
          sessionId: SESSION,
          cwd: "/garden",
          version: "2.1.40",
          gitBranch: "main",
          userType: "external",
        },
      },
    });
    expect(messagesOf(recordsIn(items)).map(({ meta }) => meta)).toEqual([
      { "claude-code": { uuid: "u1" } },
      { "claude-code": { uuid: "u2", gitBranch: "dry" } },
    ]);
  });

  test("a title given by a person is not replaced by a later one", async () => {
    const titles = (
      await itemsOf([
        { type: "summary", summary: "Of another talk", leafUuid: "elsewhere" },
        prompt("u1", null, "Hello"),
        { type: "summary", summary: "Greeting", leafUuid: "u1" },
        { type: "custom-title", customTitle: "My garden", sessionId: SESSION },
        { type: "ai-title", aiTitle: "A chat", sessionId: SESSION },
      ])
    ).flatMap((item) => (item.type === "session" && item.title !== undefined ? [item.title] : []));
    expect(titles).toEqual(["Greeting", "My garden"]);
  });

  test("lines of unknown types are kept as raw records", async () => {
    const records = await recordsOf([
      prompt("u1", null, "Hello"),
      { type: "sprinkler", valve: [1, { open: true }] },
      line("system", "s1", "u1", { subtype: "turn_duration", durationMs: 12 }),
    ]);
    expect(records.slice(1)).toMatchObject([
      { id: "L2", body: { kind: "raw", value: { type: "sprinkler", valve: [1, { open: true }] } } },
      { id: "s1", body: { kind: "raw", value: { subtype: "turn_duration", durationMs: 12, uuid: "s1" } } },
    ]);
  });

  test("broken lines are reported and the others are read", async () => {
    const folder = folderWith({
      [`${SESSION}.jsonl`]: `${textOfLines([prompt("u1", null, "Hello")])}{"type":\n[1]\n${textOfLines([prompt("u2", "u1", "Again")])}`,
    });
    const [read] = await readAll([folder], [claudeCodeFormat]);
    expect(read?.items.flatMap((item) => (item.type === "problem" ? [item.line] : []))).toEqual([2, 3]);
    expect(idsOf(recordsIn(read?.items ?? []))).toEqual(["u1", "u2"]);
  });

  test("a message beyond the size limit continues as a second record", async () => {
    const large = "x".repeat(9 * 1024 * 1024);
    const records = await recordsOf([
      prompt("u1", null, "Hello"),
      said("a1", "u1", "m1", call("t1", "Read")),
      result("r1", "a1", "t1", large),
      said("a2", "a1", "m1", text("late")),
    ]);
    expect(idsOf(records)).toEqual(["u1", "msg:m1", "msg:m1:usage", "r1", "msg:m1:2", "msg:m1:2:usage"]);
  });
});

describe("branches", () => {
  const start = [prompt("u1", null, "One"), said("a1", "u1", "m1", text("First")), prompt("u2", "a1", "Two")];

  test("a line of messages continues across other lines between them", async () => {
    const records = await recordsOf([
      prompt("u1", null, "Look"),
      line("attachment", "x1", "u1", { attachment: { type: "file" } }),
      said("a1", "u1", "m1", call("t1", "Read")),
      said("a2", "a1", "m1", call("t2", "Read")),
      progress("p1", "a2", "t1", { type: "hook_progress", hookName: "PostToolUse" }),
      result("r2", "a2", "t2", "two"),
      result("r1", "a1", "t1", "one"),
      said("a3", "r2", "m2", text("Both read")),
      line("system", "s1", "p1", { subtype: "stop_hook_summary" }),
      line("system", "s2", "a3", { subtype: "turn_duration" }),
      prompt("u2", "s2", "Thanks"),
    ]);
    expect(records.filter(({ parent }) => parent !== undefined)).toEqual([]);
  });

  test("a repeated prompt starts a branch at the message before its first occurrence", async () => {
    const records = await recordsOf([
      ...start,
      said("a2", "u2", "m2", text("Second")),
      prompt("u3", "a1", "Two, but other"),
    ]);
    expect(records.at(-1)).toMatchObject({
      id: "u3",
      parent: "msg:m1",
      body: { message: { meta: { "claude-code": { parentUuid: "a1" } } } },
    });
  });

  test("a repeated answer starts a branch at its prompt", async () => {
    const records = await recordsOf([
      ...start,
      said("a2", "u2", "m2", text("a")),
      said("a3", "u2", "m3", text("b")),
    ]);
    expect(records.find(({ id }) => id === "msg:m3")?.parent).toBe("u2");
  });

  test("a prompt whose parent is not a record follows that parent's predecessor", async () => {
    const hook = { type: "hook_progress", hookName: "Stop" };
    const records = await recordsOf([
      prompt("u1", null, "One"),
      said("a1", "u1", "m1", text("First")),
      progress("p1", "a1", "t", hook),
      progress("p2", "p1", "t", hook),
      prompt("u2", "p2", "Two"),
      said("a2", "u2", "m2", text("Second")),
      prompt("u3", "p2", "Two, but other"),
    ]);
    const two = records.find(({ id }) => id === "u3");
    const before = records[records.findIndex(({ id }) => id === "u2") - 1];
    expect(two?.parent).toBe(before?.id);
  });

  test("a message without a parent starts a line of its own", async () => {
    const records = await recordsOf([...start, prompt("u9", null, "Anew")]);
    expect(records.at(-1)).toMatchObject({ id: "u9", parent: null });
  });

  test("a parent that is missing from the file is ignored", async () => {
    const records = await recordsOf([...start, prompt("u9", "gone", "Go on")]);
    expect(records.at(-1)?.parent).toBeUndefined();
  });

  test("a repeated line counts once", async () => {
    const items = await itemsOf([...start, ...start]);
    expect(idsOf(recordsIn(items))).toEqual(["u1", "msg:m1", "msg:m1:usage", "u2"]);
    expect(copiedBytes(items)).toBeGreaterThan(0);
  });
});

describe("sub-agents", () => {
  test("messages of sub-agents in the session's own file belong to the sub-agents", async () => {
    const named = { isSidechain: true, agentId: "ab12" };
    const records = await recordsOf([
      prompt("u1", null, "Look"),
      prompt("s1", null, "Find the hose", named),
      said("s2", "s1", "n1", text("Behind the shed"), named),
      prompt("o1", null, "An old one", { isSidechain: true }),
      said("o2", "o1", "n2", text("Without a name"), { isSidechain: true }),
    ]);
    const childOf = Object.fromEntries(records.map(({ id, child }) => [id, child]));
    expect(childOf).toEqual({
      u1: undefined,
      s1: "agent-ab12",
      "msg:n1": "agent-ab12",
      "msg:n1:usage": "agent-ab12",
      o1: "agent-o1",
      "msg:n2": "agent-o1",
      "msg:n2:usage": "agent-o1",
    });
  });

  test("messages in progress lines equal those in the sub-agent's own file", async () => {
    const ask = "Find the hose";
    const data = (message: Line) => ({ type: "agent_progress", agentId: "ab12", prompt: ask, message });
    const inner = (made: Line): Line => {
      const { type, message, uuid, timestamp, requestId } = made;
      return { type, message, uuid, timestamp, ...(requestId !== undefined && { requestId }) };
    };
    const lines = [
      prompt("s1", null, ask),
      said("s2", "s1", "n1", text("a")),
      said("s3", "s2", "n1", call("k1", "Grep")),
    ];
    const items = await itemsOf([
      prompt("u1", null, "Look"),
      said("a1", "u1", "m1", call("t1", "Task", { prompt: ask })),
      ...lines.map((one, index) =>
        progress(`p${index}`, index === 0 ? "a1" : `p${index - 1}`, "t1", data(inner(one))),
      ),
      result("r1", "a1", "t1", "Behind the shed"),
      said("a2", "r1", "m2", text("Found")),
    ]);
    const [file] = await readAll(
      [
        folderWith({
          [`${SESSION}/subagents/agent-ab12.jsonl`]: lines.map((one) => ({
            ...one,
            isSidechain: true,
            agentId: "ab12",
          })),
        }),
      ],
      [claudeCodeFormat],
    );
    const own = recordsIn(items).filter(({ child }) => child === "agent-ab12");
    expect(own.map(({ child, ...record }) => record)).toEqual(recordsIn(file?.items ?? []));
    expect(items).toContainEqual({ type: "session", child: "agent-ab12", meta: { callId: "t1" } });
    expect(
      recordsIn(items).filter(({ child, parent }) => child === undefined && parent !== undefined),
    ).toEqual([]);
    expect(copiedBytes(items)).toBeGreaterThanOrEqual(ask.length * 3);
  });
});

describe("copies inside tool results", () => {
  const reading = (uuid: string, content: string) => {
    const shown = content
      .split("\n")
      .map((one, index) => `     ${index + 1}→${one}`)
      .join("\n");
    const count = content.split("\n").length;
    const file = { filePath: "/garden/bed.ts", content, numLines: count, startLine: 1, totalLines: count };
    return [
      said(`a-${uuid}`, "u1", `m-${uuid}`, call(`t-${uuid}`, "Read", { file_path: "/garden/bed.ts" })),
      result(uuid, `a-${uuid}`, `t-${uuid}`, `${shown}\n<system-reminder>careful</system-reminder>`, {
        type: "text",
        file,
      }),
    ];
  };
  const editing = (uuid: string, original: string, old: string, next: string, more: Line = {}) => {
    const input = { file_path: "/garden/bed.ts", old_string: old, new_string: next };
    const change = { filePath: "/garden/bed.ts", oldString: old, newString: next, originalFile: original };
    return [
      said(`a-${uuid}`, "u1", `m-${uuid}`, call(`t-${uuid}`, "Edit", input)),
      result(uuid, `a-${uuid}`, `t-${uuid}`, "The file has been updated.", {
        ...change,
        userModified: false,
        ...more,
      }),
    ];
  };
  const bed = 'export const bed = {\n\tplant: "tomato",\n\twater: 3,\n};\n';
  const second = bed.replace("water: 3", "water: 5");
  const patch = (old: string, next: string) => [
    {
      oldStart: 2,
      oldLines: 2,
      newStart: 2,
      newLines: 2,
      lines: ['   plant: "tomato",', `-  ${old},`, `+  ${next},`],
    },
  ];

  test("a file that was read or edited is not stored again with the result", async () => {
    const items = await itemsOf([
      prompt("u1", null, "More water"),
      ...reading("r1", bed),
      ...editing("r2", bed, "water: 3", "water: 5", { structuredPatch: patch("water: 3", "water: 5") }),
      ...editing("r3", second, "water: 5", "water: 6", { structuredPatch: patch("water: 5", "water: 6") }),
    ]);
    const records = recordsIn(items);
    expect(leftOf(records, "r1")).toEqual({
      type: "text",
      file: { numLines: 5, startLine: 1, totalLines: 5 },
    });
    expect(leftOf(records, "r2")).toEqual({ userModified: false });
    expect(leftOf(records, "r3")).toEqual({ userModified: false });
    expect(copiedBytes(items)).toBeGreaterThan(bed.length * 3);
  });

  test("the content of an unknown file is stored, and known from then on", async () => {
    const records = await recordsOf([
      prompt("u1", null, "More water"),
      ...editing("r1", bed, "water: 3", "water: 5"),
      ...editing("r2", second, "water: 5", "water: 6"),
      ...editing("r3", `${second}// changed elsewhere\n`, "water: 5", "water: 7"),
    ]);
    expect(leftOf(records, "r1")).toEqual({ originalFile: bed, userModified: false });
    expect(leftOf(records, "r2")).toEqual({ userModified: false });
    expect(leftOf(records, "r3")).toMatchObject({ originalFile: `${second}// changed elsewhere\n` });
  });

  test("a patch that does not follow from the edit is stored", async () => {
    const other = patch("water: 3", "water: 500");
    const records = await recordsOf([
      prompt("u1", null, "More water"),
      ...reading("r1", bed),
      ...editing("r2", bed, "water: 3", "water: 5", { structuredPatch: other, userModified: true }),
    ]);
    expect(leftOf(records, "r2")).toMatchObject({ userModified: true, structuredPatch: other });
  });

  test("small facts are stored with the message, and large ones in a record of their own", async () => {
    const full = "line of a long output\n".repeat(1_000);
    const records = await recordsOf([
      prompt("u1", null, "Run it"),
      said("a1", "u1", "m1", call("t1", "Bash", { command: "water --all" })),
      result("r1", "a1", "t1", "All beds have been watered.", {
        stdout: "All beds have been watered.\n",
        stderr: "",
        interrupted: false,
        code: 0,
      }),
      said("a2", "r1", "m2", call("t2", "Bash", { command: "water --log" })),
      result("r2", "a2", "t2", "line of a long output\n… cut", { stdout: full, interrupted: false }),
    ]);
    expect(leftOf(records, "r1")).toEqual({ interrupted: false, code: 0 });
    expect(records.find(({ id }) => id === "r2:toolUseResult")?.body).toEqual({
      kind: "raw",
      value: { of: "r2", toolUseResult: { stdout: full, interrupted: false } },
    });
  });

  test("blocks, pictures and short words count as copies only of the matching field", async () => {
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
    const records = await recordsOf([
      prompt("u1", null, "Show me"),
      said("a1", "u1", "m1", call("t1", "mcp__camera__shoot")),
      result("r1", "a1", "t1", [text("Here is the bed."), picture], [text("Here is the bed."), picture]),
      said("a2", "r1", "m2", call("t2", "Grep", { pattern: "water", output_mode: "content" })),
      result("r2", "a2", "t2", "bed.ts: the content is wet", {
        mode: "content",
        numFiles: 1,
        filenames: ["bed.ts"],
      }),
    ]);
    expect(leftOf(records, "r1")).toBeUndefined();
    expect(leftOf(records, "r2")).toEqual({ mode: "content", numFiles: 1 });
  });
});

describe("progress", () => {
  const bash = (uuid: string, parent: string, fullOutput: string) =>
    progress(uuid, parent, "t1", {
      type: "bash_progress",
      output: fullOutput,
      fullOutput,
      elapsedTimeSeconds: 2,
    });

  test("the intermediate output of a command is dropped if its result contains it", async () => {
    const items = await itemsOf([
      prompt("u1", null, "Run"),
      said("a1", "u1", "m1", call("t1", "Bash")),
      bash("p1", "a1", "bed 1 watered\n"),
      bash("p2", "p1", "bed 1 watered\nbed 2 watered\n"),
      result("r1", "a1", "t1", "bed 1 watered\nbed 2 watered\nbed 3 watered"),
      said("a2", "r1", "m2", text("Done")),
    ]);
    expect(idsOf(recordsIn(items))).toEqual(["u1", "msg:m1", "msg:m1:usage", "r1", "msg:m2", "msg:m2:usage"]);
    expect(copiedBytes(items)).toBeGreaterThan(0);
  });

  test("the last intermediate output is kept if the result does not contain it", async () => {
    const records = await recordsOf([
      prompt("u1", null, "Run"),
      said("a1", "u1", "m1", call("t1", "Bash")),
      bash("p1", "a1", "bed 1 watered\n"),
      bash("p2", "p1", "bed 1 watered\nbed 2 watered\n"),
      result("r1", "a1", "t1", "Interrupted"),
    ]);
    expect(records.filter(({ body }) => body.kind === "raw")).toMatchObject([{ id: "p2" }]);
  });

  test("the output of a running command waits for its result while the file grows", async () => {
    const path = sessionFile([
      prompt("u1", null, "Run"),
      said("a1", "u1", "m1", call("t1", "Bash")),
      bash("p1", "a1", "bed 1"),
    ]);
    const [live] = await readAll([path], [claudeCodeFormat], { isLive: true });
    const [dead] = await readAll([path], [claudeCodeFormat]);
    expect(idsOf(recordsIn(live?.items ?? []))).toEqual(["u1", "msg:m1", "msg:m1:usage"]);
    expect(idsOf(recordsIn(dead?.items ?? []))).toEqual(["u1", "msg:m1", "msg:m1:usage", "p1"]);
  });

  test("a repeated report of a hook is kept once", async () => {
    const hook = (uuid: string, command: string) =>
      progress(uuid, "u1", "t1", { type: "hook_progress", command });
    const records = await recordsOf([
      prompt("u1", null, "Hi"),
      hook("p1", "a"),
      hook("p2", "b"),
      hook("p3", "a"),
    ]);
    expect(idsOf(records)).toEqual(["u1", "p1", "p2"]);
  });
});

describe("edits of the window", () => {
  const before = [
    prompt("u1", null, "One"),
    said("a1", "u1", "m1", text("First")),
    prompt("u2", "a1", "Two"),
  ];
  const boundary = (fields: Line = {}) =>
    line("system", "b1", null, {
      subtype: "compact_boundary",
      logicalParentUuid: "u2",
      compactMetadata: { trigger: "auto", preTokens: 167_000, ...fields },
    });
  const summary = prompt("s1", "b1", "They spoke of water.", { isCompactSummary: true });
  const overlaysOf = (records: readonly RecordItem[]) =>
    records.flatMap(({ id, body }) => (body.kind === "overlay" ? [{ id, ...body }] : []));

  test("a compaction summarizes all earlier messages, and the line continues", async () => {
    const records = await recordsOf([...before, boundary(), summary, said("a2", "s1", "m2", text("Second"))]);
    expect(overlaysOf(records)).toEqual([
      {
        id: "s1:compaction",
        kind: "overlay",
        edit: { type: "summarize", spans: [{ through: "u2" }], record: "s1" },
        reason: "compaction (auto)",
        tokensBefore: 167_000,
      },
    ]);
    expect(records.filter(({ parent }) => parent !== undefined)).toEqual([]);
    expect(messagesOf(records).map(({ id }) => id)).toEqual(["u1", "msg:m1", "u2", "s1", "msg:m2"]);
  });

  test("messages that a compaction preserved stay in the window", async () => {
    const kept = { preservedSegment: { headUuid: "u2", anchorUuid: "s1", tailUuid: "u2" } };
    const [overlay] = overlaysOf(await recordsOf([...before, boundary(kept), summary]));
    expect(overlay?.edit).toMatchObject({ spans: [{ through: "msg:m1:usage" }] });
  });

  test("cleared and replaced results become overlays", async () => {
    const records = await recordsOf([
      prompt("u1", null, "Look"),
      said("a1", "u1", "m1", call("t1", "Read")),
      result("r1", "a1", "t1", "long"),
      line("system", "c1", "r1", {
        subtype: "microcompact_boundary",
        microcompactMetadata: { preTokens: 1_000, tokensSaved: 400, compactedToolIds: ["t1", "t0"] },
      }),
      {
        type: "content-replacement",
        sessionId: SESSION,
        replacements: [{ kind: "tool-result", toolUseId: "t1", replacement: "short" }],
      },
    ]);
    expect(overlaysOf(records)).toMatchObject([
      {
        id: "c1:t1",
        edit: { type: "replace", target: { callId: "t1" } },
        tokensBefore: 1_000,
        tokensAfter: 600,
      },
      { id: "c1:t0", edit: { target: { callId: "t0" } } },
      { id: "L5:t1", edit: { target: { callId: "t1" }, parts: [{ type: "text", text: "short" }] } },
    ]);
  });
});

describe("large results in separate files", () => {
  test("a large result follows the message that refers to it, even by another name", async () => {
    const folder = folderWith({
      [`${SESSION}.jsonl`]: [
        prompt("u1", null, "Look"),
        said("a1", "u1", "m1", call("t1", "Bash")),
        result("r1", "a1", "t1", "<persisted-output>Preview</persisted-output>"),
        said("a2", "r1", "m2", call("t2", "Bash")),
        result(
          "r2",
          "a2",
          "t2",
          `Saved to: /people/ada/.claude/projects/x/${SESSION}/tool-results/mcp-7.txt`,
        ),
      ],
      [`${SESSION}/tool-results/t1.txt`]: "the whole output",
      [`${SESSION}/tool-results/mcp-7.txt`]: "the other output",
      [`${SESSION}/tool-results/lost.txt`]: "nobody speaks of it",
    });
    const [read] = await readAll([folder], [claudeCodeFormat]);
    const records = recordsIn(read?.items ?? []);
    expect(idsOf(records)).toEqual([
      "u1",
      "msg:m1",
      "msg:m1:usage",
      "r1",
      "t1:tool-result-file",
      "msg:m2",
      "msg:m2:usage",
      "r2",
      "mcp-7:tool-result-file",
      "lost:tool-result-file",
    ]);
    expect(records[4]?.body).toEqual({
      kind: "raw",
      value: { toolResultFile: { name: "t1.txt", text: "the whole output" } },
    });
  });
});

describe("a file that grows", () => {
  sizedTest("a file that grows gives the same records, wherever earlier reads stopped", async () => {
    const hook = { type: "hook_progress", hookName: "Stop" };
    const lines = [
      prompt("u1", null, "Look"),
      said("a1", "u1", "m1", call("t1", "Read")),
      said("a2", "a1", "m1", call("t2", "Bash", { command: "ls" })),
      result("r1", "a1", "t1", "one"),
      said("a3", "a2", "m1", call("t3", "Read")),
      result("r2", "a2", "t2", "two", { stdout: "two", interrupted: false }),
      result("r3", "a3", "t3", "three"),
      said("a4", "r3", "m2", text("All read")),
      progress("p1", "a4", "x", hook),
      prompt("u2", "p1", "Next"),
      said("a5", "u2", "m3", text("Yes?")),
      progress("p2", "a5", "x", hook),
      prompt("u3", "p1", "Rather this"),
      prompt("s1", null, "Aside", { isSidechain: true }),
      said("a6", "u3", "m4", text("Fine")),
      said("s2", "s1", "n1", text("Aside too"), { isSidechain: true }),
    ];
    const whole = textOfLines(lines);
    const expected = lastVersions(await itemsOf(lines));
    await fc.assert(
      fc.asyncProperty(fc.subarray([...lineEnds(whole)]), async (cuts) => {
        const path = join(testFolder(), `${SESSION}.jsonl`);
        expect(lastVersions(await readGrowing(path, whole, cuts, claudeCodeFormat))).toEqual(expected);
      }),
      { numRuns: proofRounds(60) },
    );
  });
});

test("a forked session names its origin", async () => {
  const from = (messageUuid: string) => ({ forkedFrom: { sessionId: "origin-1", messageUuid } });
  const items = await itemsOf([
    prompt("u1", null, "Fix the login.", from("o1")),
    said("a1", "u1", "m1", text("Done."), from("o2")),
    prompt("u2", "a1", "Now the logout."),
  ]);
  const metas = items.flatMap((item) => (item.type === "session" && item.meta ? [item.meta] : []));
  expect(metas.at(-1)).toMatchObject({ forkedFrom: "claude-code/origin-1" });
});
