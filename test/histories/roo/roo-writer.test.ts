import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createExportedSession } from "../../../src/histories/export-session.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Item } from "../../../src/histories/reading/item.ts";
import { rooFormat } from "../../../src/histories/roo/roo-format.ts";
import { rooWriter } from "../../../src/histories/roo/roo-writer.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { toyFormat } from "../../support/toy-format.ts";
import { exportTo, readJson, writeTask } from "../cline/task-folder.ts";

const formats = [rooFormat];
const ID = "01234567-89ab-7def-8123-456789abcdef";
const START = 1_750_000_000_000;
const text = (role: string, words: string, seconds: number, more: object = {}) => ({
  role,
  content: [{ type: "text", text: words }],
  ts: START + seconds * 1000,
  ...more,
});

const api = [
  text("user", "<task>Do it</task>", 0, { condenseParent: "c1" }),
  {
    type: "reasoning",
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: "xyz",
    id: "r1",
    ts: START + 500,
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "well then", summary: [] },
      { type: "tool_use", id: "t1", name: "read_file", input: { path: "a" } },
    ],
    reasoning_content: "well then",
    reasoning_details: [{ type: "reasoning.text" }],
    ts: START + 1000,
    condenseParent: "c1",
  },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "t1", content: "1 | x" }],
    ts: START + 2000,
    condenseParent: "c1",
  },
  text("user", "## So far", 3, { isSummary: true, condenseId: "c1", condenseParent: "c2" }),
  text("assistant", "on", 4, { condenseParent: "c2" }),
  text("user", "## So far, again", 5, { isSummary: true, condenseId: "c2" }),
  text("assistant", "b", 6, { truncationParent: "t1" }),
  { role: "user", content: "[1 hidden]", ts: START + 6999, isTruncationMarker: true, truncationId: "t1" },
  text("user", "c", 7),
];
const ui = [
  { ts: START, type: "say", say: "text", text: "Do it" },
  {
    ts: START + 800,
    type: "say",
    say: "api_req_started",
    text: '{"apiProtocol":"anthropic","tokensIn":5,"tokensOut":1}',
  },
  {
    ts: START + 3100,
    type: "say",
    say: "condense_context",
    contextCondense: {
      cost: 0.1,
      prevContextTokens: 9,
      newContextTokens: 3,
      summary: "## So far",
      condenseId: "c1",
    },
  },
  {
    ts: START + 8000,
    type: "say",
    say: "checkpoint_saved",
    text: "abc",
    checkpoint: { from: "a", to: "abc" },
  },
];
const files = {
  "api_conversation_history.json": api,
  "ui_messages.json": ui,
  "history_item.json": {
    id: ID,
    number: 3,
    ts: START,
    task: "Do it",
    tokensIn: 5,
    totalCost: 1,
    childIds: [],
  },
  "task_metadata.json": { files_in_context: [] },
};

async function entriesOf(kernel: Kernel, id: string) {
  const { entries } = await createExportedSession(kernel, id);
  const all = [];
  for await (const entry of entries("line")) all.push(entry);
  return all;
}

describe("writing a task of Roo", () => {
  test("a task of Roo is written back file by file, and another import finds the same", async () => {
    const [first, second, out] = [await testKernel(), await testKernel(), testFolder()];
    const report = await importSources(first, [writeTask(testFolder(), ID, files)], { formats });
    expect(report.totals.found).toMatchObject({ messages: 10, overlays: 3, usage: 2 });
    await exportTo(out, first, `roo/${ID}`, rooWriter);
    for (const [name, value] of Object.entries(files)) expect(readJson(join(out, ID), name)).toEqual(value);
    await importSources(second, [out], { formats });
    expect(await entriesOf(second, `roo/${ID}`)).toEqual(await entriesOf(first, `roo/${ID}`));
  });

  test("a task of Roo with an old summary is written back without tags", async () => {
    const [kernel, out] = [await testKernel(), testFolder()];
    const old = [
      text("user", "a", 1),
      text("assistant", "b", 2),
      text("assistant", "so far", 3, { isSummary: true }),
    ];
    await importSources(kernel, [writeTask(testFolder(), ID, { "api_conversation_history.json": old })], {
      formats,
    });
    await exportTo(out, kernel, `roo/${ID}`, rooWriter);
    expect(readJson(join(out, ID), "api_conversation_history.json")).toEqual(old);
  });
});

describe("writing any session as a task of Roo", () => {
  const said = (id: string, role: "user" | "assistant", words: string): Item => ({
    type: "record",
    id,
    at: START + Number(id) * 1000,
    body: { kind: "message", message: { role, text: words } },
  });
  const items: Item[] = [
    said("1", "user", "Do it"),
    said("2", "assistant", "Yes."),
    {
      type: "record",
      id: "3",
      body: { kind: "usage", usage: { inputTokens: 7, cacheReadTokens: 3, outputTokens: 8 } },
    },
    said("4", "user", "more"),
    said("5", "assistant", "so far"),
    {
      type: "record",
      id: "6",
      body: {
        kind: "overlay",
        edit: { type: "summarize", spans: [{ from: "1", through: "4" }], record: "5" },
        reason: "compaction",
      },
    },
    said("7", "user", "and"),
    said("8", "assistant", "on"),
    {
      type: "record",
      id: "9",
      body: { kind: "overlay", edit: { type: "hide", spans: [{ from: "7", through: "7" }] }, reason: "old" },
    },
  ];

  test("a session written for Roo tags removed messages, and its import has the same window", async () => {
    const [kernel, folder, out] = [await testKernel(), testFolder(), testFolder()];
    writeFileSync(join(folder, "talk.toy"), items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    await importSources(kernel, [folder], { formats: [toyFormat] });
    await exportTo(out, kernel, "pi/talk", rooWriter);
    const [id = ""] = readdirSync(out);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    const sent = readJson(join(out, id), "api_conversation_history.json") as Record<string, unknown>[];
    expect(sent.map(({ condenseParent, truncationParent }) => condenseParent ?? truncationParent)).toEqual([
      ...["longhaul-6", "longhaul-6", "longhaul-6", undefined, "longhaul-9", undefined, undefined],
    ]);
    expect(sent[3]).toMatchObject({ isSummary: true, condenseId: "longhaul-6" });
    expect(sent[5]).toMatchObject({ isTruncationMarker: true, truncationId: "longhaul-9" });
    expect(readJson(join(out, id), "history_item.json")).toMatchObject({
      id,
      task: "Do it",
      tokensIn: 10,
      tokensOut: 8,
      cacheReads: 3,
    });

    const again = await testKernel();
    const report = await importSources(again, [out], { formats });
    expect(report.totals.found).toMatchObject({ messages: 7, overlays: 2, usage: 1 });
    const used = (await entriesOf(again, `roo/${id}`)).flatMap((entry) =>
      entry.kind === "usage" ? [entry.usage] : [],
    );
    expect(used).toEqual([{ inputTokens: 7, outputTokens: 8, cacheReadTokens: 3 }]);
    const edits = (await entriesOf(again, `roo/${id}`)).flatMap((entry) =>
      entry.kind === "overlay" ? [entry.edit.type] : [],
    );
    expect(edits).toEqual(["summarize", "hide"]);
  });
});
