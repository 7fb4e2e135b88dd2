import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { clineFormat } from "../../../src/histories/cline/cline-format.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import { rooFormat } from "../../../src/histories/roo/roo-format.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, texts } from "../../support/kernel.ts";
import { countRaw } from "../count-raw/index.ts";
import { bodiesOf, PNG, recordsOf, writeTask } from "./task-folder.ts";

const formats = [clineFormat];
const START = 1_700_000_000_000;
const ID = String(START);
const said = (text: string) => ({ type: "text", text });
const user = (...texts: string[]) => ({ role: "user", content: texts.map(said) });
const assistant = (...texts: string[]) => ({ role: "assistant", content: texts.map(said) });

/** A message shown while `index` was the last of the conversation, `seconds` after the start. */
function say(kind: string, index: number, seconds: number, more: object = {}) {
  const ts = START + seconds * 1000;
  return { ts, type: "say", say: kind, conversationHistoryIndex: index, ...more };
}

const ASKED = "<task>\nFind out why the nightly build has been failing since Monday\n</task>";
const DETAILS =
  "<environment_details>\nFour files are open in the editor at the moment\n</environment_details>";
const ANSWERED = "I will look at the log of the last build, which should name the step that failed.";

const task = {
  "api_conversation_history.json": [
    user(ASKED, DETAILS),
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "The log comes first.", signature: "c2ln", summary: [] },
        { type: "text", text: ANSWERED, call_id: "" },
        { type: "tool_use", id: "t1", name: "read_file", input: { path: "build.log" } },
      ],
      modelInfo: { modelId: "model-a", providerId: "provider-a", mode: "act" },
      ts: START + 5000,
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "step 4 failed" }] },
  ],
  "ui_messages.json": [
    say("text", -1, 0, { text: "Find out why the nightly build has been failing since Monday", images: [] }),
    say("api_req_started", -1, 1, {
      text: JSON.stringify({
        request: `${ASKED}\n\n${DETAILS}`,
        tokensIn: 10,
        tokensOut: 200,
        cacheWrites: 3000,
        cacheReads: 40,
        cost: 0.02,
      }),
    }),
    say("text", 0, 3, { text: ANSWERED, partial: false }),
    say("checkpoint_created", 1, 6, { lastCheckpointHash: "abc123" }),
    say("error", 1, 7, { text: "The terminal went away." }),
  ],
};

async function readOne(path: string) {
  const [read] = await readAll([path], formats);
  if (!read) throw new Error(`nothing was found at ${path}`);
  return read;
}

async function lineOf(kernel: Kernel, id = `cline/${ID}`): Promise<string[]> {
  await using session = await kernel.session(id);
  return texts(await session.page({ kinds: ["message"], limit: 100 }));
}

describe("a task of Cline", () => {
  test("a task of Cline is read in the order of events, and its displayed messages are not stored twice", async () => {
    const { source, items } = await readOne(writeTask(testFolder(), ID, task));
    expect(source).toMatchObject({ format: "cline", id: ID });
    expect(items[0]).toMatchObject({
      type: "session",
      title: "Find out why the nightly build has been failing since Monday",
      createdAt: START,
    });
    expect(recordsOf(items).map(({ id }) => id)).toEqual([
      "ui#0",
      "ui#1",
      "#0",
      "ui#2",
      "#1",
      "ui#3",
      "ui#4",
      "ui#4:notice",
      "#2",
    ]);
    const stored = JSON.stringify(recordsOf(items).filter(({ id }) => id.startsWith("ui#")));
    expect(stored).not.toContain("nightly build has been");
    expect(stored).not.toContain("Four files are open");
    expect(stored).not.toContain("which should name the step");
    expect(items.some((item) => item.type === "copy" && item.bytes > 100)).toBe(true);
  });

  test("a task of Cline keeps roles, parts, models and times", async () => {
    const { items } = await readOne(writeTask(testFolder(), ID, task));
    const messages = bodiesOf(items, "message").map(({ message }) => message);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(messages[1]).toMatchObject({
      model: "model-a",
      parts: [
        { type: "reasoning", text: "The log comes first.", opaque: "c2ln" },
        { type: "text", text: ANSWERED },
        { type: "tool-call", callId: "t1", name: "read_file", input: { path: "build.log" } },
      ],
      meta: { cline: { extras: { 0: { summary: [] }, 1: { call_id: "" } } } },
    });
    const times = recordsOf(items).flatMap(({ id, at }) => (id.startsWith("#") ? [at] : []));
    expect(times).toEqual([START + 1000, START + 5000, START + 7000]);
  });

  test("a task of Cline reports the usage of each request once, and notices for the user", async () => {
    const { items } = await readOne(writeTask(testFolder(), ID, task));
    expect(bodiesOf(items, "usage")).toMatchObject([
      {
        usage: {
          inputTokens: 10,
          outputTokens: 200,
          cacheWriteTokens: 3000,
          cacheReadTokens: 40,
          cost: 0.02,
        },
      },
    ]);
    expect(bodiesOf(items, "notice")).toEqual([{ kind: "notice", text: "The terminal went away." }]);
  });

  test("a task of Cline takes usage from its messages if no displayed messages exist", async () => {
    const metrics = { tokens: { prompt: 5, completion: 6, cached: 7 }, cost: 0.1 };
    const folder = writeTask(testFolder(), ID, {
      "api_conversation_history.json": [user("hello"), { ...assistant("hi"), metrics }],
    });
    const { items } = await readOne(folder);
    expect(bodiesOf(items, "usage")).toMatchObject([
      { usage: { inputTokens: 5, outputTokens: 6, cacheReadTokens: 7, cost: 0.1 } },
    ]);
  });

  test("a task of Cline turns its context edits into overlays with their times", async () => {
    const shown = [
      ...task["ui_messages.json"],
      say("api_req_started", 2, 20, { text: "{}", conversationHistoryDeletedRange: [2, 2] }),
    ];
    const folder = writeTask(testFolder(), ID, {
      ...task,
      "ui_messages.json": shown,
      "context_history.json": [
        [1, [0, [[1, [[START + 8000, "text", ["[shortened]"], []]]]]]],
        [2, [2, [[0, [[START + 8000, "text", ["[read again later]"], [["build.log"]]]]]]]],
      ],
    });
    const { items } = await readOne(folder);
    expect(recordsOf(items).map(({ id }) => id)).toEqual([
      ...["ui#0", "ui#1", "#0", "ui#2", "#1", "ui#3", "ui#4", "ui#4:notice", "#2"],
      ...["context:1.1.0", "context:2.0.0", "context:2.0.0:metadata", "ui#5", "deleted:2-2"],
    ]);
    expect(bodiesOf(items, "overlay")).toEqual([
      {
        kind: "overlay",
        edit: {
          type: "replace",
          target: { record: "#1", part: 1 },
          parts: [{ type: "text", text: "[shortened]" }],
        },
        reason: "context edit",
        madeAt: START + 8000,
      },
      {
        kind: "overlay",
        edit: {
          type: "replace",
          target: { record: "#2", part: 0 },
          parts: [{ type: "tool-result", callId: "t1", output: "[read again later]" }],
        },
        reason: "read_file_tool",
        madeAt: START + 8000,
      },
      {
        kind: "overlay",
        edit: { type: "hide", spans: [{ from: "#2", through: "#2" }] },
        reason: "conversationHistoryDeletedRange",
        madeAt: START + 20_000,
      },
    ]);
  });

  test("a task of Cline keeps pictures that were sent or only displayed, each once", async () => {
    const source = { type: "base64", media_type: "image/png", data: PNG };
    const url = `data:image/png;base64,${PNG}`;
    const other = `data:image/gif;base64,R0lGODlhAQABAAAAACw=`;
    const folder = writeTask(testFolder(), ID, {
      "api_conversation_history.json": [{ role: "user", content: [said("look"), { type: "image", source }] }],
      "ui_messages.json": [
        say("text", -1, 0, { text: "look", images: [url] }),
        say("user_feedback", 0, 1, { text: "and here", images: [url, other] }),
      ],
    });
    const { items } = await readOne(folder);
    const data = bodiesOf(items, "message").flatMap(({ message }) =>
      (message.parts ?? []).flatMap((part) => (part.type === "data" ? [part.data] : [])),
    );
    expect(data).toEqual([PNG, "R0lGODlhAQABAAAAACw="]);
  });

  test("a task of Cline keeps small files next to it, and its entry in Cline's list of tasks", async () => {
    const folder = testFolder();
    writeTask(join(folder, "tasks"), ID, {
      ...task,
      "task_metadata.json": { files_in_context: [{ path: "a.ts" }] },
      "focus_chain_taskid_1.md": "- [x] look",
    });
    const item = { id: ID, task: "Find it", totalCost: 1, conversationHistoryDeletedRange: [0, 1] };
    writeTask(folder, "state", { "taskHistory.json": [{ id: "1" }, item] });
    const { items } = await readOne(folder);
    expect(items[0]).toMatchObject({ title: "Find it", meta: { "cline-history": { totalCost: 1 } } });
    expect(
      bodiesOf(items, "raw").flatMap(({ value }) => ("file" in (value as object) ? [value] : [])),
    ).toEqual([
      { file: "task_metadata.json", json: { files_in_context: [{ path: "a.ts" }] } },
      { file: "focus_chain_taskid_1.md", text: "- [x] look" },
    ]);
    expect(bodiesOf(items, "overlay")).toMatchObject([{ edit: { type: "hide" } }]);
  });
});

describe("the displayed messages of a task without its conversation", () => {
  const shown = [
    say("text", -1, 0, { text: "Build it", images: [`data:image/png;base64,${PNG}`] }),
    say("api_req_started", -1, 1, {
      text: JSON.stringify({ request: "<task>Build it</task>", tokensIn: 3 }),
    }),
    say("reasoning", 0, 2, { text: "hm" }),
    say("command", 0, 3, { text: "make" }),
    { ...say("", 0, 4), type: "ask", ask: "command_output", text: "cc -o it" },
    { ...say("", 0, 5), type: "ask", ask: "command_output", text: "done" },
    say("tool", 1, 6, { text: JSON.stringify({ tool: "readFile", path: "a.c" }) }),
    say("checkpoint_created", 1, 7, { lastCheckpointHash: "abc" }),
    say("user_feedback", 1, 8, { text: "thanks" }),
  ];

  test("displayed messages without a conversation become one message each", async () => {
    const { items } = await readOne(writeTask(testFolder(), ID, { "ui_messages.json": shown }));
    const messages = bodiesOf(items, "message").map(({ message }) => message);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "assistant",
      "assistant",
      "tool",
      "user",
      "assistant",
      "system",
      "user",
    ]);
    expect(messages.flatMap(({ parts }) => (parts ?? []).map(({ type }) => type))).toEqual([
      "text",
      "data",
      "text",
      "reasoning",
      "tool-call",
      "tool-result",
      "text",
      "tool-call",
      "text",
    ]);
    expect(messages[3]?.parts).toMatchObject([{ name: "execute_command", input: { command: "make" } }]);
    expect(messages[4]?.parts).toMatchObject([{ callId: "ui#3", output: "cc -o it" }]);
    expect(messages[6]?.parts).toMatchObject([{ name: "readFile", input: { path: "a.c" } }]);
    expect(bodiesOf(items, "usage")).toMatchObject([{ usage: { inputTokens: 3 } }]);
  });

  test("displayed messages give way to the conversation once it exists", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeTask(folder, ID, { "ui_messages.json": shown.slice(0, 2) });
    await importSources(kernel, [folder], { formats });
    expect(await lineOf(kernel)).toHaveLength(2);
    writeTask(folder, ID, { "api_conversation_history.json": [user("<task>Build it</task>")] });
    await importSources(kernel, [folder], { formats });
    expect(await lineOf(kernel)).toEqual(["[blob]", "<task>Build it</task>"]);
  });

  test("displayed messages are counted like the independent counter counts them", async () => {
    const folder = testFolder();
    const text = JSON.stringify(shown);
    const path = join(writeTask(folder, ID, { "ui_messages.json": text }), "ui_messages.json");
    const report = await importSources(await testKernel(), [path], { formats });
    const { messages, toolCalls, images } = countRaw("cline", text);
    expect(report.totals.found).toMatchObject({ messages, toolCalls, images });
  });
});

describe("finding tasks of Cline", () => {
  test("a task of Cline is found as a single file, as a compressed file and under its old name", async () => {
    const folder = writeTask(testFolder(), ID, {
      "claude_messages.json": task["api_conversation_history.json"],
    });
    expect(await sourcesAt([join(folder, "claude_messages.json")], formats)).toMatchObject([
      { source: { id: ID } },
    ]);
    const other = testFolder();
    writeFileSync(join(other, "ui_messages.json.gz"), gzipSync(JSON.stringify(task["ui_messages.json"])));
    const [found] = await sourcesAt([join(other, "ui_messages.json.gz")], formats);
    expect(found?.source.id).toMatch(new RegExp(`-${START}$`));
  });

  test("tasks of Roo are not taken for tasks of Cline", async () => {
    const folder = testFolder();
    const summary = { ...user("so far"), isSummary: true, condenseId: "c1" };
    writeTask(folder, "by-field", { "api_conversation_history.json": [summary] });
    writeTask(folder, "by-file", { ...task, "history_item.json": {} });
    writeTask(folder, "01234567-89ab-7def-8123-456789abcdef", task);
    writeTask(join(folder, "rooveterinaryinc.roo-cline", "tasks"), "by-place", task);
    writeTask(folder, ID, task);
    expect((await sourcesAt([folder], [clineFormat])).map(({ source }) => source.id)).toEqual([ID]);
    expect(await sourcesAt([folder], [rooFormat])).toHaveLength(4);
  });

  test("a file with the name of a task but other content is ignored", async () => {
    const folder = writeTask(testFolder(), "web", {
      "ui_messages.json": { hello: "Hello", ask: "Ask" },
      "api_conversation_history.json": ["a", "b"],
    });
    expect(await sourcesAt([folder], formats)).toEqual([]);
  });

  test("tasks are found in files that were collected under longer names", async () => {
    const folder = writeTask(testFolder(), "collected", {
      "first.ui_messages.json": task["ui_messages.json"],
      "first.api_conversation_history.json": task["api_conversation_history.json"],
      "second.ui_messages.json": task["ui_messages.json"],
    });
    expect(
      (await sourcesAt([folder], formats)).map(({ source }) => [source.id, source.paths.length]),
    ).toEqual([
      ["collected/first.", 2],
      ["collected/second.", 1],
    ]);
  });

  test("tasks are searched in the extension folders of all editors", () => {
    const homes = (platform: NodeJS.Platform) => clineFormat.homes({ home: "/people/a", platform, env: {} });
    expect(homes("linux")).toContain("/people/a/.config/Cursor/User/globalStorage/saoudrizwan.claude-dev");
    expect(homes("linux")).toContain(
      "/people/a/.vscode-server/data/User/globalStorage/saoudrizwan.claude-dev",
    );
    expect(homes("darwin")).toContain(
      "/people/a/Library/Application Support/VSCodium/User/globalStorage/saoudrizwan.claude-dev",
    );
    expect(homes("linux")).toContain("/people/a/.cline/data");
  });
});

describe("a task that is rewritten each time", () => {
  const asked = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      index % 2 ? assistant(`answer ${index}`) : user(`ask ${index}`),
    );
  const shownOf = (count: number) =>
    asked(count).map((_, index) => say("text", index - 1, index, { text: `${index}` }));
  const files = (count: number) => ({
    "api_conversation_history.json": asked(count),
    "ui_messages.json": shownOf(count),
  });

  test("a rewritten task is not read again while its files are unchanged", async () => {
    const kernel = await testKernel();
    const folder = writeTask(testFolder(), ID, files(4));
    await importSources(kernel, [folder], { formats });
    const again = await importSources(kernel, [folder], { formats });
    expect(again.sources[0]).toMatchObject({ status: "unchanged", bytesRead: 0 });
  });

  test("a rewritten task keeps its active line, without the messages that Cline took back", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeTask(folder, ID, files(4));
    await importSources(kernel, [folder], { formats });
    writeTask(folder, ID, files(6));
    const grown = await importSources(kernel, [folder], { formats });
    expect(grown.totals.added).toMatchObject({ messages: 2, raw: 2 });
    await using session = await kernel.session(`cline/${ID}`);
    expect((await session.record()).lineSeq).toBe(0);

    const back = [...asked(3), assistant("another answer")];
    writeTask(folder, ID, { "api_conversation_history.json": back, "ui_messages.json": shownOf(4) });
    await importSources(kernel, [folder], { formats });
    expect(await lineOf(kernel)).toEqual(["ask 0", "answer 1", "ask 2", "another answer"]);
  });

  test("a task keeps its imported messages if an interrupted write has cut its file", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeTask(folder, ID, files(4));
    await importSources(kernel, [folder], { formats });
    const text = JSON.stringify(asked(4));
    writeTask(folder, ID, { "api_conversation_history.json": text.slice(0, text.length * 0.6) });
    const report = await importSources(kernel, [folder], { formats });
    expect(report.problems).toMatchObject([{ reason: "the file ends in the middle of a record" }]);
    expect(await lineOf(kernel)).toHaveLength(4);
  });

  test("a broken file yields its readable part, and never throws", async () => {
    const text = JSON.stringify([user("one"), assistant("two"), 7, { role: "nobody" }, user("three")]);
    const folder = writeTask(testFolder(), ID, { "api_conversation_history.json": text.slice(0, -4) });
    const { items } = await readOne(folder);
    expect(bodiesOf(items, "message")).toHaveLength(2);
    expect(bodiesOf(items, "raw")).toEqual([{ kind: "raw", value: { element: { role: "nobody" } } }]);
    expect(items.filter(({ type }) => type === "problem")).toHaveLength(2);
  });
});
