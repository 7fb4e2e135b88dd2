import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clineFormat } from "../../../src/histories/cline/cline-format.ts";
import { clineWriter } from "../../../src/histories/cline/cline-writer.ts";
import { createExportedSession } from "../../../src/histories/export-session.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Item } from "../../../src/histories/reading/item.ts";
import type { Kernel, MessageInput } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { toyFormat } from "../../support/toy-format.ts";
import { exportTo, PNG, readJson, writeTask } from "./task-folder.ts";

const formats = [clineFormat];
const START = 1_700_000_000_000;
const ID = String(START);
const LONG = "The build failed in its fourth step because a certificate had expired on Monday. ".repeat(3);
const url = `data:image/png;base64,${PNG}`;
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };

const api = [
  { role: "user", content: [{ type: "text", text: "<task>\nWhy does it fail?\n</task>" }, image], ts: START },
  {
    role: "assistant",
    id: "r1",
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln", summary: [] },
      { type: "text", text: LONG, call_id: "" },
      {
        type: "tool_use",
        id: "t1",
        name: "write_to_file",
        input: { path: "a.md", content: `${LONG}\n"quoted"` },
      },
    ],
    modelInfo: { modelId: "model-a", providerId: "provider-a", mode: "act" },
    metrics: { tokens: { prompt: 1, completion: 2, cached: 3 } },
    ts: START + 2000,
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "written" }] },
      { type: "tool_result", tool_use_id: "t2", content: "plain" },
    ],
    ts: START + 1500,
  },
  { role: "user", content: "as one string" },
  { odd: "element" },
];
const say = (kind: string, index: number, seconds: number, more: object = {}) => ({
  ts: START + seconds * 1000,
  type: "say",
  say: kind,
  conversationHistoryIndex: index,
  ...more,
});
const ui = [
  say("text", -1, 0, { text: "Why does it fail?", images: [url] }),
  say("api_req_started", -1, 1, {
    text: JSON.stringify({
      request: "<task>\nWhy does it fail?\n</task>\n\n[Image]",
      tokensIn: 5,
      cost: 0.1,
    }),
  }),
  say("text", 0, 1, { text: LONG, partial: true }),
  say("tool", 0, 2, {
    text: JSON.stringify({ tool: "newFileCreated", path: "a.md", content: `${LONG}\n"quoted"` }),
  }),
  say("error", 1, 3, { text: "The terminal went away." }),
  say("user_feedback", 2, 4, { text: "see", images: ["data:image/gif;base64,R0lGODlhAQABAAAAACw=", url] }),
  say("api_req_started", 3, 5, { text: "{}", conversationHistoryDeletedRange: [2, 2] }),
];
const context = [
  [1, [0, [[1, [[START + 3000, "text", ["[shortened]"], []]]]]]],
  [2, [2, [[0, [[START + 3000, "text", ["[later]"], [["a.md"]]]]]]]],
];
const files = {
  "api_conversation_history.json": api,
  "ui_messages.json": ui,
  "context_history.json": context,
  "task_metadata.json": { files_in_context: [{ path: "a.md" }], model_usage: [] },
  "focus_chain_taskid_1.md": "- [ ] look",
};

async function entriesOf(kernel: Kernel, id: string) {
  const { entries } = await createExportedSession(kernel, id);
  const all = [];
  for await (const entry of entries("line")) all.push(entry);
  return all;
}

describe("writing a task of Cline", () => {
  test("a task of Cline is written back file by file, and another import finds the same", async () => {
    const [first, second, out] = [await testKernel(), await testKernel(), testFolder()];
    await importSources(first, [writeTask(testFolder(), ID, files)], { formats });
    await exportTo(out, first, `cline/${ID}`, clineWriter);
    for (const [name, value] of Object.entries(files))
      if (name.endsWith(".json")) expect(readJson(join(out, ID), name)).toEqual(value);
    expect(readdirSync(join(out, ID)).sort()).toEqual(Object.keys(files).sort());
    await importSources(second, [out], { formats });
    expect(await entriesOf(second, `cline/${ID}`)).toEqual(await entriesOf(first, `cline/${ID}`));
  });

  test("a task of Cline with displayed messages only is written back unchanged", async () => {
    const [kernel, out] = [await testKernel(), testFolder()];
    const shown = [
      ...ui,
      say("command", 4, 9, { text: "make" }),
      { ...say("", 4, 10), type: "ask", ask: "command_output", text: "done" },
      say("tool", 4, 11, { text: '{ "tool": "readFile" }' }),
      say("reasoning", 4, 12, { text: "hm" }),
      say("checkpoint_created", 4, 13),
    ];
    await importSources(kernel, [writeTask(testFolder(), ID, { "ui_messages.json": shown })], { formats });
    await exportTo(out, kernel, `cline/${ID}`, clineWriter);
    expect(readJson(join(out, ID), "ui_messages.json")).toEqual(shown);
    expect(existsSync(join(out, ID, "api_conversation_history.json"))).toBe(false);
  });

  test("a task of Cline is written with the messages that longhaul has added since", async () => {
    const [kernel, out] = [await testKernel(), testFolder()];
    await importSources(kernel, [writeTask(testFolder(), ID, files)], { formats });
    await using session = await kernel.session(`cline/${ID}`);
    await session.append({ role: "user", text: "And now?" });
    await session.append({ role: "assistant", text: "Renew it." });
    await exportTo(out, kernel, `cline/${ID}`, clineWriter);
    const sent = readJson(join(out, ID), "api_conversation_history.json") as unknown[];
    expect(sent.slice(0, api.length)).toEqual(api);
    expect(sent.slice(api.length)).toMatchObject([
      { role: "user", content: [{ type: "text", text: "And now?" }] },
      { role: "assistant", content: [{ type: "text", text: "Renew it." }] },
    ]);
    const shown = readJson(join(out, ID), "ui_messages.json") as unknown[];
    expect(shown.slice(0, ui.length)).toEqual(ui);
    expect(shown.slice(ui.length)).toMatchObject([
      { say: "user_feedback", text: "And now?", conversationHistoryIndex: 4 },
      { say: "api_req_started", conversationHistoryIndex: 4 },
      { say: "text", text: "Renew it.", conversationHistoryIndex: 5 },
    ]);
  });

  test("a task of Cline with displayed messages only gets a conversation file once it has new messages", async () => {
    const [kernel, out] = [await testKernel(), testFolder()];
    await importSources(kernel, [writeTask(testFolder(), ID, { "ui_messages.json": ui })], { formats });
    await using session = await kernel.session(`cline/${ID}`);
    await session.append({ role: "user", text: "And now?" });
    await exportTo(out, kernel, `cline/${ID}`, clineWriter);
    expect(readJson(join(out, ID), "api_conversation_history.json")).toHaveLength(ui.length + 1);
  });
});

describe("writing any session as a task of Cline", () => {
  const said = (id: string, message: MessageInput): Item => ({
    type: "record",
    id,
    at: START + Number(id) * 1000,
    body: { kind: "message", message },
  });
  const items: Item[] = [
    said("1", { role: "system", text: "Be good." }),
    said("2", {
      role: "user",
      parts: [
        { type: "text", text: "Make it" },
        { type: "data", data: PNG },
      ],
    }),
    said("3", {
      role: "assistant",
      model: "model-a",
      parts: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "I will." },
        { type: "tool-call", callId: "t1", name: "bash", input: { command: "make" } },
        { type: "tool-call", callId: "t2", name: "odd_tool", input: { a: 1 } },
      ],
    }),
    {
      type: "record",
      id: "4",
      body: { kind: "usage", usage: { inputTokens: 7, outputTokens: 8, cost: 0.5 }, model: "model-a" },
    },
    said("5", { role: "tool", parts: [{ type: "tool-result", callId: "t1", output: "done" }] }),
    said("6", { role: "assistant", text: "It is made." }),
    { type: "record", id: "7", body: { kind: "notice", text: "A note." } },
    {
      type: "record",
      id: "8",
      body: {
        kind: "overlay",
        edit: { type: "replace", target: { callId: "t1" }, parts: [{ type: "text", text: "[gone]" }] },
        reason: "cleared",
        madeAt: START + 8000,
      },
    },
    {
      type: "record",
      id: "9",
      body: {
        kind: "overlay",
        edit: { type: "hide", spans: [{ from: "3", through: "5" }] },
        reason: "too long",
      },
    },
  ];

  async function written() {
    const [kernel, folder, out] = [await testKernel(), testFolder(), testFolder()];
    writeFileSync(join(folder, "talk.toy"), items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    await importSources(kernel, [folder], { formats: [toyFormat] });
    await exportTo(out, kernel, "pi/talk", clineWriter);
    const [id = ""] = readdirSync(out);
    return { out, id };
  }

  test("a session written for Cline gets the messages that Cline would have displayed, with usage", async () => {
    const { out, id } = await written();
    expect(id).toMatch(/^\d{16}$/);
    const shown = readJson(join(out, id), "ui_messages.json") as { ts: number; say: string; text: string }[];
    expect(shown.map(({ say: kind }) => kind)).toEqual([
      ...["text", "api_req_started", "reasoning", "text", "command", "text"],
      ...["command_output", "api_req_started", "text", "info"],
    ]);
    expect(JSON.parse(shown[1]?.text ?? "")).toEqual({
      request: "Make it",
      tokensIn: 7,
      tokensOut: 8,
      cost: 0.5,
    });
    expect(shown[0]).toMatchObject({ text: "Make it", images: [url] });
    expect(new Set(shown.map(({ ts }) => ts)).size).toBe(shown.length);
  });

  test("a session written for Cline lists removed messages as far as Cline supports it", async () => {
    const { out, id } = await written();
    const shown = readJson(join(out, id), "ui_messages.json") as object[];
    expect(shown.at(-1)).toMatchObject({ conversationHistoryDeletedRange: [2, 3] });
    expect(readJson(join(out, id), "context_history.json")).toEqual([
      [3, [0, [[0, [[START + 8000, "text", ["[gone]"], []]]]]]],
    ]);
  });

  test("a session written for Cline can be imported again", async () => {
    const { out, id } = await written();
    const kernel = await testKernel();
    const report = await importSources(kernel, [out], { formats });
    expect(report.totals.found).toMatchObject({
      messages: 5,
      toolCalls: 2,
      toolResults: 1,
      images: 1,
      usage: 1,
      overlays: 2,
    });
    const messages = (await entriesOf(kernel, `cline/${id}`)).flatMap((entry) =>
      entry.kind === "message" ? [{ ...entry.message, at: entry.at }] : [],
    );
    expect(messages.map(({ role }) => role)).toEqual(["user", "user", "assistant", "tool", "assistant"]);
    expect(messages[2]?.model).toBe("model-a");
  });
});
