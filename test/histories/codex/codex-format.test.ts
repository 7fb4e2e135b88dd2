import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codexFormat } from "../../../src/histories/codex/codex-format.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { lastVersions, lineEnds, readGrowing } from "../../support/growing.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, texts } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const THREAD = "0198aaaa-0000-7000-8000-000000000001";
const NAME = `rollout-2026-08-01T10-00-00-${THREAD}.jsonl`;

let second = 0;
const line = (type: string, payload: object, more: object = {}) => {
  const timestamp = new Date(Date.UTC(2026, 7, 1, 10, 0, second++)).toISOString();
  return { timestamp, type, payload, ...more };
};
const meta = (more: object = {}) =>
  line("session_meta", {
    id: THREAD,
    timestamp: "2026-08-01T10:00:00.000Z",
    cwd: "/code",
    source: "cli",
    ...more,
  });
const item = (payload: object, more: object = {}) => line("response_item", payload, more);
const event = (type: string, payload: object = {}, more: object = {}) =>
  line("event_msg", { type, ...payload }, more);
const user = (text: string) =>
  item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const asked = (text: string) => [user(text), event("user_message", { message: text, images: [] })];
const answer = (text: string) =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const answered = (text: string) => [event("agent_message", { message: text }), answer(text)];
const thought = (secret: string) => item({ type: "reasoning", summary: [], encrypted_content: secret });
const call = (id: string, command: string) =>
  item({ type: "function_call", name: "shell", arguments: JSON.stringify({ command }), call_id: id });
const output = (id: string, text: string) =>
  item({ type: "function_call_output", call_id: id, output: text });
const tokens = (input: number, cached: number, total: number) =>
  event("token_count", {
    info: {
      last_token_usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: 7 },
      total_token_usage: { input_tokens: total, cached_input_tokens: cached, output_tokens: 7 },
    },
  });
const textOfLines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

function rollout(records: readonly object[], name = NAME): string {
  const path = join(testFolder(), name);
  writeFileSync(path, textOfLines(records));
  return path;
}

async function itemsOf(records: readonly object[]): Promise<readonly Item[]> {
  const [read] = await readAll([rollout(records)], [codexFormat]);
  return read?.items ?? [];
}

const recordsIn = (items: readonly Item[]) => items.filter((one): one is RecordItem => one.type === "record");
const messagesIn = (items: readonly Item[]) =>
  recordsIn(items).flatMap(({ body }) => (body.kind === "message" ? [body.message] : []));
const rawIn = (items: readonly Item[]) =>
  recordsIn(items).flatMap(({ body }) => (body.kind === "raw" ? [body.value as { payload: object }] : []));
const copiedIn = (items: readonly Item[]) =>
  items.reduce((sum, one) => sum + (one.type === "copy" ? one.bytes : 0), 0);

describe("a Codex rollout", () => {
  test("a Codex rollout becomes one message for each item, with the model of its turn", async () => {
    const items = await itemsOf([
      meta(),
      line("turn_context", { model: "gpt-x", effort: "high" }),
      item({ type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] }),
      ...asked("fix it"),
      call("c1", "ls"),
      output("c1", "a.ts"),
      ...answered("done"),
    ]);
    expect(messagesIn(items)).toEqual([
      { role: "system", parts: [{ type: "text", text: "rules" }], meta: { codex: { role: "developer" } } },
      { role: "user", parts: [{ type: "text", text: "fix it" }] },
      {
        role: "assistant",
        parts: [{ type: "tool-call", callId: "c1", name: "shell", input: { command: "ls" } }],
        model: "gpt-x",
      },
      { role: "tool", parts: [{ type: "tool-result", callId: "c1", output: "a.ts" }] },
      { role: "assistant", parts: [{ type: "text", text: "done" }], model: "gpt-x" },
    ]);
    const session = items.find((one) => one.type === "session");
    expect(session).toMatchObject({ createdAt: Date.UTC(2026, 7, 1, 10), meta: { codex: { cwd: "/code" } } });
  });

  test("a Codex rollout joins reasoning with the next action, and leaves its ciphertext unchanged", async () => {
    const items = await itemsOf([
      meta(),
      ...asked("go"),
      thought("gAAA=="),
      thought("gBBB=="),
      call("c1", "ls"),
    ]);
    expect(messagesIn(items)[1]?.parts).toEqual([
      { type: "reasoning", text: "", opaque: { encrypted_content: "gAAA==" } },
      { type: "reasoning", text: "", opaque: { encrypted_content: "gBBB==" } },
      { type: "tool-call", callId: "c1", name: "shell", input: { command: "ls" } },
    ]);
  });

  test("a Codex rollout keeps reasoning without a following action as its own message", async () => {
    const items = await itemsOf([meta(), ...asked("go"), thought("gAAA=="), ...asked("stop")]);
    expect(messagesIn(items).map(({ role, parts }) => [role, parts?.[0]?.type])).toEqual([
      ["user", "text"],
      ["assistant", "reasoning"],
      ["user", "text"],
    ]);
  });

  test("a Codex rollout drops events that repeat items, and keeps their other fields", async () => {
    const items = await itemsOf([
      meta(),
      user("look"),
      event("user_message", { message: "look", client_id: "k1" }),
      event("agent_reasoning", { text: "hm" }),
      item({ type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] }),
      ...answered("found"),
      event("task_complete", { turn_id: "t1", last_agent_message: "found" }),
    ]);
    expect(rawIn(items).map(({ payload }) => payload)).toEqual([
      { type: "user_message", client_id: "k1" },
      { type: "task_complete", turn_id: "t1" },
    ]);
    expect(messagesIn(items)).toHaveLength(2);
    expect(copiedIn(items)).toBeGreaterThan(0);
  });

  test("a Codex rollout keeps an event whose text is in no item", async () => {
    const items = await itemsOf([
      meta(),
      ...asked("review"),
      event("agent_message", { message: "alone" }),
      user("ok"),
    ]);
    expect(rawIn(items).map(({ payload }) => payload)).toEqual([{ type: "agent_message", message: "alone" }]);
    expect(messagesIn(items)).toHaveLength(2);
  });

  test("a Codex rollout drops output from an event if the tool result contains it", async () => {
    const long = "a line of output\n".repeat(20);
    const items = await itemsOf([
      meta(),
      ...asked("run"),
      call("c1", "make"),
      call("c2", "test"),
      event("exec_command_end", { call_id: "c1", stdout: long, exit_code: 0 }),
      event("exec_command_end", { call_id: "c2", stdout: "short", exit_code: 1 }),
      output("c1", `Exit code: 0\nOutput:\n${long}`),
      output("c2", "short"),
    ]);
    expect(rawIn(items).map(({ payload }) => payload)).toEqual([
      { type: "exec_command_end", call_id: "c1", exit_code: 0 },
      { type: "exec_command_end", call_id: "c2", stdout: "short", exit_code: 1 },
    ]);
    expect(copiedIn(items)).toBeGreaterThan(long.length);
  });

  test("a Codex rollout counts the tokens of a request once, and subtracts cached tokens from the input", async () => {
    const report = tokens(100, 80, 100);
    const items = await itemsOf([
      meta(),
      line("turn_context", { model: "gpt-x" }),
      ...asked("go"),
      ...answered("ok"),
      report,
      report,
      event("token_count", {
        info: {
          last_token_usage: { input_tokens: 0, output_tokens: 0, total_tokens: 55 },
          total_token_usage: { input_tokens: 100, cached_input_tokens: 80, output_tokens: 7 },
        },
      }),
    ]);
    const usage = recordsIn(items).flatMap(({ body }) => (body.kind === "usage" ? [body] : []));
    expect(usage).toEqual([
      { kind: "usage", usage: { inputTokens: 20, cacheReadTokens: 80, outputTokens: 7 }, model: "gpt-x" },
    ]);
    expect(rawIn(items).at(-1)).toMatchObject({
      type: "token_count",
      last_token_usage: { total_tokens: 55 },
    });
  });

  test("a Codex rollout keeps repeated settings of turns and descriptions of the thread once", async () => {
    const settings = { turn_id: "t1", model: "gpt-x", cwd: "/code" };
    const instructions = { text: "be good ".repeat(500) };
    const items = await itemsOf([
      meta({ base_instructions: instructions }),
      event("task_started", { turn_id: "t1" }),
      line("turn_context", settings),
      ...asked("one"),
      meta({ base_instructions: instructions }),
      event("task_started", { turn_id: "t2" }),
      line("turn_context", { ...settings, turn_id: "t2" }),
      meta({ base_instructions: instructions, memory_mode: "enabled" }),
    ]);
    const kept = rawIn(items).map(({ payload }) => Object.keys(payload)[0]);
    expect(kept).toEqual(["base_instructions", "type", "turn_id", "type"]);
    const sessions = items.filter((one) => one.type === "session");
    expect(sessions).toHaveLength(2);
    expect(sessions[1]).toMatchObject({ meta: { codex: { cwd: "/code", memory_mode: "enabled" } } });
  });

  test("a Codex rollout keeps images of messages and of tools as data", async () => {
    const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL_PNG}`, detail: "high" };
    const items = await itemsOf([
      meta(),
      item({ type: "message", role: "user", content: [{ type: "input_text", text: "see" }, image] }),
      item({ type: "custom_tool_call", call_id: "c1", name: "view", input: "a.png" }),
      item({
        type: "custom_tool_call_output",
        call_id: "c1",
        output: [image, { type: "input_text", text: "ok" }],
      }),
    ]);
    const [seen, called, shown] = messagesIn(items);
    expect(seen?.parts?.[1]).toMatchObject({ type: "data", data: PIXEL_PNG });
    expect(seen?.meta).toEqual({ codex: { extras: { 1: { detail: "high" } } } });
    expect(called?.parts).toEqual([{ type: "tool-call", callId: "c1", name: "view", input: "a.png" }]);
    expect(shown?.parts?.[0]).toMatchObject({
      type: "tool-result",
      output: [
        { type: "data", data: PIXEL_PNG },
        { type: "text", text: "ok" },
      ],
    });
  });

  test("a Codex rollout reads the other kinds of tool calls", async () => {
    const action = { type: "search", query: "cats" };
    const items = await itemsOf([
      meta(),
      ...asked("go"),
      item({
        type: "local_shell_call",
        call_id: "s1",
        status: "completed",
        action: { type: "exec", command: ["ls"] },
      }),
      output("s1", "a.ts"),
      event("web_search_end", { call_id: "ws_1", query: "cats", action }),
      item({ type: "web_search_call", status: "completed", action }),
      item({ type: "tool_search_call", call_id: "f1", arguments: { query: "git" } }),
      item({ type: "tool_search_output", call_id: "f1", tools: [{ name: "git_log" }] }),
      item({ type: "image_generation_call", id: "i1", revised_prompt: "a cat", result: PIXEL_PNG }),
    ]);
    const parts = messagesIn(items).flatMap(({ parts = [] }) => parts);
    const calls = parts.flatMap((part) =>
      part.type === "tool-call" ? [[part.callId, part.name, part.input]] : [],
    );
    expect(calls).toEqual([
      ["s1", "local_shell", { type: "exec", command: ["ls"] }],
      ["L7", "web_search", action],
      ["f1", "tool_search", { query: "git" }],
      ["i1", "image_generation", { revised_prompt: "a cat" }],
    ]);
    const results = parts.flatMap((part) => (part.type === "tool-result" ? [part] : []));
    expect(results[1]?.output).toEqual([{ type: "raw", format: "codex", value: [{ name: "git_log" }] }]);
    expect(results[2]).toMatchObject({ callId: "i1", output: [{ type: "data", data: PIXEL_PNG }] });
  });

  test("a Codex rollout keeps unknown lines and events as raw records", async () => {
    const unknown = line("world_state", { weather: "fine" });
    const items = await itemsOf([meta(), unknown, event("novelty", { a: 1 }), { odd: true }]);
    expect(rawIn(items)).toEqual([
      unknown,
      expect.objectContaining({ payload: { type: "novelty", a: 1 } }),
      { odd: true },
    ]);
  });

  test("a Codex rollout of an old version is read, with a header and bare items", async () => {
    const items = await itemsOf([
      { id: THREAD, timestamp: "2025-05-01T10:00:00.000Z", instructions: null, git: { branch: "main" } },
      { record_type: "state" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
      { type: "function_call", name: "shell", arguments: "not json", call_id: "c1" },
      { type: "function_call_output", call_id: "c1", output: '{"output":"hi","metadata":{"exit_code":0}}' },
    ]);
    expect(messagesIn(items).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(messagesIn(items)[1]?.parts?.[0]).toMatchObject({ input: "not json" });
    expect(items.find((one) => one.type === "session")).toMatchObject({
      meta: { codex: { git: { branch: "main" } } },
    });
  });

  test("a Codex rollout with a cut last line is reported, unless Codex is still writing it", async () => {
    const path = join(testFolder(), NAME);
    writeFileSync(path, `${textOfLines([meta(), ...asked("hello")])}{"timestamp":"2026-08-0`);
    const [read] = await readAll([path], [codexFormat]);
    expect(read?.items.filter((one) => one.type === "problem")).toMatchObject([
      { line: 4, severity: "lost" },
    ]);
    expect(messagesIn(read?.items ?? [])).toHaveLength(1);
    const [live] = await readAll([path], [codexFormat], { isLive: true });
    expect(live?.items.some((one) => one.type === "problem")).toBe(false);
  });

  test("a compressed Codex rollout is read like a plain one", async () => {
    const text = textOfLines([meta(), ...asked("hello"), thought("gA="), ...answered("hi")]);
    const folder = testFolder();
    writeFileSync(join(folder, NAME), text);
    const packed = join(testFolder(), `${NAME}.zst`);
    writeFileSync(packed, zstdCompressSync(Buffer.from(text)));
    const [plain] = await readAll([folder], [codexFormat]);
    const [unpacked] = await readAll([packed], [codexFormat]);
    expect(unpacked?.source.id).toBe(plain?.source.id);
    expect(recordsIn(unpacked?.items ?? [])).toEqual(recordsIn(plain?.items ?? []));
  });
});

describe("the window of a Codex thread", () => {
  test("a compaction replaces the window of a Codex thread by its remaining history", async () => {
    const items = await itemsOf([
      meta(),
      ...asked("one"),
      ...answered("two"),
      line("compacted", {
        message: "",
        replacement_history: [
          { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
          { type: "compaction", encrypted_content: "gC==" },
        ],
        window_id: "w1",
      }),
      event("context_compacted"),
    ]);
    const edits = recordsIn(items).flatMap(({ body }) => (body.kind === "overlay" ? [body] : []));
    expect(edits).toMatchObject([
      {
        reason: "compaction",
        edit: {
          type: "summarize",
          spans: [{}],
          messages: [
            { role: "user", parts: [{ type: "text", text: "one" }] },
            {
              role: "assistant",
              parts: [{ type: "raw", format: "codex", value: { encrypted_content: "gC==" } }],
            },
          ],
        },
      },
    ]);
    expect(rawIn(items).map(({ payload }) => payload)).toEqual([{ window_id: "w1" }]);
  });

  test("a compaction of an old version replaces the window of a Codex thread by its summary", async () => {
    const kernel = await testKernel();
    const path = rollout([
      meta(),
      ...asked("one"),
      ...answered("two"),
      line("compacted", { message: "so far" }),
      ...asked("on"),
    ]);
    await importSources(kernel, [path], { formats: [codexFormat] });
    await using session = await kernel.session(`codex/${THREAD}`);
    const { entries } = await session.page({ kinds: ["overlay"] });
    expect(entries[0]).toMatchObject({ kind: "overlay", author: "codex", reason: "compaction" });
  });

  test("a rollout that begins with a compaction reports lost turns", async () => {
    const items = await itemsOf([meta(), line("compacted", { message: "what was" }), ...asked("go on")]);
    expect(items.find((one) => one.type === "problem")).toMatchObject({ severity: "damaged", line: 2 });
    expect(recordsIn(items).map(({ body }) => body.kind)).toEqual(["notice", "overlay", "message"]);
  });

  test("a rollback counts turns of the user, not messages that Codex adds in the user's name", async () => {
    const kernel = await testKernel();
    const context = user("<environment_context>\n<cwd>/code</cwd>\n</environment_context>");
    const path = rollout([
      meta(),
      context,
      ...asked("first"),
      ...answered("one"),
      ...asked("second"),
      ...answered("two"),
      context,
      ...asked("third"),
      ...answered("three"),
      event("thread_rolled_back", { num_turns: 2 }),
      ...asked("instead"),
      ...answered("four"),
    ]);
    await importSources(kernel, [path], { formats: [codexFormat] });
    await using session = await kernel.session(`codex/${THREAD}`);
    const line = texts(await session.page({ kinds: ["message"] }));
    expect(line.slice(1)).toEqual(["first", "one", "instead", "four"]);
    expect((await session.read({ from: 1 })).filter(({ kind }) => kind === "message")).toHaveLength(10);
  });

  test("a rollback of more turns than exist leaves no turn active", async () => {
    const items = await itemsOf([
      meta(),
      ...asked("first"),
      ...answered("one"),
      event("thread_rolled_back", { num_turns: 1 }),
      ...asked("again"),
      event("thread_rolled_back", { num_turns: 9 }),
    ]);
    expect(items.filter((one) => one.type === "rewind")).toEqual([
      { type: "rewind", to: null },
      { type: "rewind", to: "L6" },
    ]);
  });
});

describe("finding Codex rollouts", () => {
  test("a Codex thread is named by its own id, wherever its file is and whatever its name", async () => {
    const renamed = rollout([meta()], "copy.jsonl");
    const [found] = await sourcesAt([renamed], [codexFormat]);
    expect(found?.source).toMatchObject({ format: "codex", id: THREAD, cwd: "/code" });
    const headless = rollout([user("no header")]);
    expect((await sourcesAt([headless], [codexFormat]))[0]?.source.id).toBe(THREAD);
  });

  test("a Codex rollout is recognized even if its first line is longer than the head of the file", async () => {
    const path = rollout([meta({ base_instructions: { text: "long ".repeat(40_000) } })], "copy.jsonl");
    expect((await sourcesAt([path], [codexFormat]))[0]?.source).toMatchObject({ id: THREAD, cwd: "/code" });
  });

  test("a sub-agent and a fork of a Codex thread name their parent", async () => {
    const spawn = { subagent: { thread_spawn: { parent_thread_id: "parent-1", depth: 1 } } };
    const cases = [
      [{ parent_thread_id: "parent-0" }, "parent-0"],
      [{ source: spawn }, "parent-1"],
      [{ forked_from_id: "parent-2" }, "parent-2"],
      [{}, undefined],
    ] as const;
    for (const [more, parent] of cases) {
      const [found] = await sourcesAt([rollout([meta(more)])], [codexFormat]);
      expect(found?.source.parent).toBe(parent);
    }
  });

  test("a sub-agent's rollout does not count the usage of its parent", async () => {
    const at = (record: object, ordinal: number) => ({ ...record, ordinal });
    const items = await itemsOf([
      at(meta({ parent_thread_id: "p", subagent_history_start_ordinal: 4 }), 0),
      at(line("session_meta", { id: "p", cwd: "/code" }), 1),
      at(user("from the parent"), 2),
      at(tokens(100, 0, 100), 3),
      at(user("the task"), 4),
      at(tokens(10, 0, 110), 5),
    ]);
    const usage = recordsIn(items).flatMap(({ body }) => (body.kind === "usage" ? [body.usage] : []));
    expect(usage).toMatchObject([{ inputTokens: 10 }]);
    expect(messagesIn(items)).toHaveLength(2);
  });

  test("the files of a reverted thread are kept apart, and the missing part is reported", async () => {
    const other = "0198bbbb-0000-7000-8000-000000000002";
    const base = { thread_id: THREAD, end_ordinal_exclusive: 12, end_byte_offset: 900 };
    const path = rollout([meta({ history_base: base })], NAME.replace(".jsonl", `_${other}.jsonl`));
    const [read] = await readAll([path], [codexFormat]);
    expect(read?.source.id).toBe(`${THREAD}_${other}`);
    expect(read?.items.find((one) => one.type === "problem")).toMatchObject({ severity: "damaged" });
  });

  test("a rollout is found once while it is being compressed", async () => {
    const folder = testFolder();
    const text = textOfLines([meta()]);
    writeFileSync(join(folder, NAME), text);
    writeFileSync(join(folder, `${NAME}.zst`), zstdCompressSync(Buffer.from(text)));
    const found = await sourcesAt([folder], [codexFormat]);
    expect(found.map(({ source }) => source.path)).toEqual([join(folder, NAME)]);
  });

  test("files of other tools are not taken for Codex rollouts", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, "sub"));
    const others = [
      {
        type: "user",
        uuid: "u",
        message: { role: "user", content: "hello" },
        timestamp: "2026-01-01T00:00:00Z",
      },
      { type: "session", version: 3, id: "x", timestamp: "2026-01-01T00:00:00Z", cwd: "/" },
      { type: "session.start", data: { sessionId: "x" }, id: "y", parentId: null },
      { sessionId: "s", projectHash: "p", startTime: "2026-01-01T00:00:00Z" },
      { role: "user", content: "hello" },
    ];
    for (const [index, first] of others.entries())
      writeFileSync(join(folder, `${index}.jsonl`), textOfLines([first]));
    writeFileSync(
      join(folder, "sub", "history.jsonl"),
      textOfLines([{ session_id: "s", ts: 1, text: "hi" }]),
    );
    expect(await sourcesAt([folder], [codexFormat])).toEqual([]);
  });

  test("Codex rollouts are searched in the folder that the environment names", () => {
    const system = { home: "/people/me", platform: "linux", env: {} } as const;
    expect(codexFormat.homes(system)).toEqual([
      "/people/me/.codex/sessions",
      "/people/me/.codex/archived_sessions",
    ]);
    expect(codexFormat.homes({ ...system, env: { CODEX_HOME: "/else" } })[0]).toBe("/else/sessions");
  });
});

describe("a Codex rollout that grows", () => {
  const story = () => [
    meta(),
    line("turn_context", { model: "gpt-x" }),
    ...asked("first"),
    event("agent_reasoning", { text: "hm" }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "gA=" }),
    ...answered("one"),
    call("c1", "make"),
    event("exec_command_end", { call_id: "c1", stdout: "x".repeat(100), exit_code: 0 }),
    output("c1", "x".repeat(100)),
    tokens(100, 80, 100),
    thought("gB="),
    ...answered("two"),
    line("compacted", { message: "so far", window_id: "w" }),
    ...asked("second"),
    thought("gC="),
    tokens(50, 0, 150),
    ...asked("third"),
    ...answered("three"),
    event("thread_rolled_back", { num_turns: 2 }),
    ...asked("fourth"),
    ...answered("four"),
  ];

  test("a growing Codex rollout gives the same records at once and line by line", async () => {
    const text = textOfLines(story());
    const folder = testFolder();
    const path = join(folder, NAME);
    const whole = lastVersions(await readGrowing(path, text, [], codexFormat));
    const grown = lastVersions(await readGrowing(path, text, lineEnds(text), codexFormat));
    expect([...grown.keys()].sort()).toEqual([...whole.keys()].sort());
    for (const [id, record] of whole) expect(grown.get(id)).toEqual(record);
  });

  sizedTest("a growing Codex rollout gives the same records, wherever the first read stopped", async () => {
    const text = textOfLines(story());
    const path = join(testFolder(), NAME);
    const whole = lastVersions(await readGrowing(path, text, [], codexFormat));
    const places = fc.array(fc.integer({ min: 200, max: text.length }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(places, async (cuts) => {
        const grown = await readGrowing(
          path,
          text,
          [...cuts].sort((a, b) => a - b),
          codexFormat,
        );
        expect(new Map([...lastVersions(grown)].sort())).toEqual(new Map([...whole].sort()));
      }),
      { numRuns: proofRounds(40) },
    );
  });

  test("a growing Codex rollout gives the same line in the log at once and step by step", async () => {
    const lines: string[][] = [];
    for (const steps of [1, 4]) {
      const kernel = await testKernel();
      const records = story();
      const path = join(testFolder(), NAME);
      for (let step = 1; step <= steps; step++) {
        writeFileSync(path, textOfLines(records.slice(0, Math.ceil((records.length * step) / steps))));
        await importSources(kernel, [path], { formats: [codexFormat] });
      }
      await using session = await kernel.session(`codex/${THREAD}`);
      lines.push(texts(await session.page({ kinds: ["message"] })));
    }
    expect(lines[1]).toEqual(lines[0]);
    expect(lines[0]?.slice(-2)).toEqual(["fourth", "four"]);
  });
});

sizedTest("no line of a Codex rollout makes reading fail, whatever the values of its fields", async () => {
  const types = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "else"];
  const inner = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "web_search_call",
    "image_generation_call",
    "tool_search_output",
    "agent_message",
    "token_count",
    "thread_rolled_back",
    "exec_command_end",
    "error",
    "compaction",
  ];
  const value = fc.jsonValue({ maxDepth: 3 });
  const payload = fc.record(
    {
      type: fc.constantFrom(...inner),
      role: fc.constantFrom("user", "assistant", "__proto__"),
      id: value,
      call_id: value,
      content: value,
      output: value,
      summary: value,
      arguments: value,
      info: value,
      message: value,
      num_turns: value,
      replacement_history: value,
      model: value,
      turn_id: value,
      result: value,
      source: value,
      action: value,
    },
    { requiredKeys: [] },
  );
  const lines = fc.array(
    fc.record({ timestamp: value, type: fc.constantFrom(...types), payload, metadata: value }),
  );
  await fc.assert(
    fc.asyncProperty(lines, async (records) => {
      const items = await itemsOf([meta(), ...records]);
      expect(new Set(recordsIn(items).map(({ id, version }) => `${id} ${version}`)).size).toBe(
        recordsIn(items).length,
      );
    }),
    { numRuns: proofRounds(150) },
  );
});
