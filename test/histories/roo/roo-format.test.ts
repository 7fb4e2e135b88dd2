import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { rooFormat } from "../../../src/histories/roo/roo-format.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, texts } from "../../support/kernel.ts";
import { bodiesOf, recordsOf, writeTask } from "../cline/task-folder.ts";

const formats = [rooFormat];
const START = 1_750_000_000_000;
const ID = "01234567-89ab-7def-8123-456789abcdef";
const at = (seconds: number) => START + seconds * 1000;
const user = (text: string, seconds: number, more: object = {}) => ({
  role: "user",
  content: [{ type: "text", text }],
  ts: at(seconds),
  ...more,
});
const assistant = (text: string, seconds: number, more: object = {}) => ({
  ...user(text, seconds, more),
  role: "assistant",
});
const say = (kind: string, seconds: number, more: object = {}) => ({
  ts: at(seconds),
  type: "say",
  say: kind,
  ...more,
});

async function itemsOf(files: Readonly<Record<string, unknown>>) {
  const [read] = await readAll([writeTask(testFolder(), ID, files)], formats);
  return read?.items ?? [];
}

async function lineOf(kernel: Kernel): Promise<string[]> {
  await using session = await kernel.session(`roo/${ID}`);
  return texts(await session.page({ kinds: ["message"], limit: 100 }));
}

async function overlaysOf(kernel: Kernel): Promise<string[]> {
  await using session = await kernel.session(`roo/${ID}`);
  const { entries } = await session.page({ kinds: ["overlay"], limit: 100 });
  return entries.map((entry) => (entry.kind === "overlay" ? entry.reason : ""));
}

describe("a task of Roo", () => {
  test("a task of Roo names messages by their times, and repeated times also by position", async () => {
    const items = await itemsOf({
      "api_conversation_history.json": [
        user("a", 1),
        assistant("b", 2),
        user("c", 2),
        { role: "user", content: "d" },
      ],
    });
    expect(recordsOf(items).map(({ id }) => id)).toEqual([String(at(1)), String(at(2)), `${at(2)}#2`, "#3"]);
  });

  test("a task of Roo summarizes messages with the id of a summary, as long as that summary exists", async () => {
    const items = await itemsOf({
      "api_conversation_history.json": [
        user("a", 1, { condenseParent: "c1" }),
        assistant("b", 2, { condenseParent: "c1" }),
        user("so far", 3, { isSummary: true, condenseId: "c1", condenseParent: "c2" }),
        assistant("d", 4, { condenseParent: "c2" }),
        user("so far, again", 5, { isSummary: true, condenseId: "c2" }),
        user("e", 6, { condenseParent: "gone" }),
      ],
      "ui_messages.json": [
        say("condense_context", 3, {
          contextCondense: { cost: 0.01, prevContextTokens: 900, newContextTokens: 90, condenseId: "c1" },
        }),
      ],
    });
    expect(bodiesOf(items, "overlay")).toEqual([
      {
        kind: "overlay",
        edit: {
          type: "summarize",
          spans: [{ from: String(at(1)), through: String(at(2)) }],
          record: String(at(3)),
        },
        reason: "condense:c1",
        madeAt: at(3),
        tokensBefore: 900,
        tokensAfter: 90,
      },
      {
        kind: "overlay",
        edit: {
          type: "summarize",
          spans: [{ from: String(at(3)), through: String(at(4)) }],
          record: String(at(5)),
        },
        reason: "condense:c2",
        madeAt: at(5),
      },
    ]);
    expect(bodiesOf(items, "usage")).toMatchObject([{ usage: { cost: 0.01 } }]);
    expect(bodiesOf(items, "message")).toHaveLength(6);
  });

  test("a task of Roo hides messages with the id of a marker, and keeps the marker as a message", async () => {
    const items = await itemsOf({
      "api_conversation_history.json": [
        user("a", 1),
        assistant("b", 2, { truncationParent: "t1" }),
        user("c", 3, { truncationParent: "t1" }),
        { role: "user", content: "[2 hidden]", ts: at(4) - 1, isTruncationMarker: true, truncationId: "t1" },
        assistant("d", 4),
      ],
    });
    expect(bodiesOf(items, "overlay")).toMatchObject([
      { edit: { type: "hide", spans: [{ from: String(at(2)), through: String(at(3)) }] } },
    ]);
    expect(bodiesOf(items, "message")).toHaveLength(5);
  });

  test("a task of Roo applies an old summary to all messages after the first", async () => {
    const items = await itemsOf({
      "api_conversation_history.json": [
        user("a", 1),
        assistant("b", 2),
        user("c", 3),
        assistant("so far", 4, { isSummary: true }),
      ],
    });
    expect(bodiesOf(items, "overlay")).toMatchObject([
      { edit: { type: "summarize", spans: [{ from: String(at(2)), through: String(at(3)) }] } },
    ]);
  });

  test("a task of Roo keeps reasoning in all its forms", async () => {
    const items = await itemsOf({
      "api_conversation_history.json": [
        user("a", 1),
        {
          type: "reasoning",
          summary: [{ type: "summary_text", text: "hm" }],
          encrypted_content: "xyz",
          id: "r1",
          ts: at(2),
        },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "well then", summary: [] },
            { type: "text", text: "b" },
          ],
          reasoning_content: "well then",
          ts: at(3),
        },
      ],
    });
    const messages = bodiesOf(items, "message").map(({ message }) => message);
    expect(messages[1]).toMatchObject({
      role: "assistant",
      parts: [{ type: "reasoning", text: "hm", opaque: "xyz" }],
    });
    expect(messages[2]?.parts).toEqual([
      { type: "reasoning", text: "well then" },
      { type: "text", text: "b" },
    ]);
    expect(JSON.stringify(messages[2]).match(/well then/g)).toHaveLength(1);
  });

  test("a task of Roo subtracts cached tokens from the input", async () => {
    const request = (info: object) => say("api_req_started", 1, { text: JSON.stringify(info) });
    const items = await itemsOf({
      "api_conversation_history.json": [user("a", 0)],
      "ui_messages.json": [
        request({ tokensIn: 1000, tokensOut: 5, cacheReads: 700, cacheWrites: 200 }),
        request({ tokensIn: 100, tokensOut: 5, cacheReads: 700, cacheWrites: 200 }),
      ],
    });
    expect(bodiesOf(items, "usage").map(({ usage }) => usage.inputTokens)).toEqual([100, 100]);
  });

  test("a task of Roo takes parent, folder and title from its history item, and keeps long command output", async () => {
    const folder = writeTask(testFolder(), ID, {
      "api_conversation_history.json": [user("a", 1)],
      "history_item.json": {
        id: ID,
        parentTaskId: "p1",
        task: "Do it\nwell",
        workspace: "/work",
        totalCost: 2,
      },
      "command-output/cmd-1.txt": "a long story",
    });
    const [read] = await readAll([folder], formats);
    expect(read?.source).toMatchObject({ parent: "p1", title: "Do it", cwd: "/work" });
    expect(read?.items[0]).toMatchObject({ type: "session", meta: { "roo-history": { totalCost: 2 } } });
    expect(bodiesOf(read?.items ?? [], "raw")).toEqual([
      { kind: "raw", value: { file: "command-output/cmd-1.txt", text: "a long story" } },
    ]);
  });

  test("tasks of Roo are searched in the extension folders of all editors", () => {
    expect(rooFormat.homes({ home: "C:\\a", platform: "win32", env: { APPDATA: "/roaming" } })).toContain(
      join("/roaming", "Code", "User", "globalStorage", "rooveterinaryinc.roo-cline"),
    );
  });

  test("a folder without a task of Roo is ignored", async () => {
    const folder = writeTask(testFolder(), "notes", { "messages.json": [], "history_item.json": {} });
    expect(await sourcesAt([folder], formats)).toEqual([]);
  });
});

describe("a task of Roo that is rewritten", () => {
  const plain = [user("a", 1), assistant("b", 2), user("c", 3), assistant("d", 4), user("e", 5)];
  const marker = {
    role: "user",
    content: "[2 hidden]",
    ts: at(4) - 1,
    isTruncationMarker: true,
    truncationId: "t1",
  };
  const truncated = [
    plain[0],
    { ...plain[1], truncationParent: "t1" },
    { ...plain[2], truncationParent: "t1" },
    marker,
    plain[3],
    plain[4],
    assistant("f", 6),
  ];

  test("a rewritten task of Roo gets a marker between known messages, and those are not imported again", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeTask(folder, ID, { "api_conversation_history.json": plain });
    await importSources(kernel, [folder], { formats });
    writeTask(folder, ID, { "api_conversation_history.json": truncated });
    const report = await importSources(kernel, [folder], { formats });
    expect(report.totals.added).toMatchObject({ messages: 2, overlays: 1 });
    expect(await lineOf(kernel)).toEqual(["a", "b", "c", "[2 hidden]", "d", "e", "f"]);
    expect(await overlaysOf(kernel)).toEqual(["truncation:t1"]);
  });

  test("a rewritten task of Roo loses its overlay once a rewind has removed marker and tags", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeTask(folder, ID, { "api_conversation_history.json": truncated });
    await importSources(kernel, [folder], { formats });
    writeTask(folder, ID, { "api_conversation_history.json": plain.slice(0, 3) });
    await importSources(kernel, [folder], { formats });
    expect(await lineOf(kernel)).toEqual(["a", "b", "c"]);
    expect(await overlaysOf(kernel)).toEqual([]);
  });
});
