import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { clineSdkFormat } from "../../../src/histories/cline-sdk/cline-sdk-format.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll } from "../../support/items.ts";
import { testKernel } from "../../support/kernel.ts";
import { bodiesOf, PNG, recordsOf, writeTask } from "../cline/task-folder.ts";

const formats = [clineSdkFormat];
const ID = "1750000000000_ab12x";
const TS = 1_750_000_000_000;

const messages = [
  {
    id: "m1",
    role: "user",
    content: [
      { type: "text", text: "<user_input>Look at this</user_input>" },
      { type: "image", data: PNG, mediaType: "image/png" },
      { type: "file", path: "/repo/a.ts", content: "const a = 1" },
    ],
    agent: "lead",
    sessionId: ID,
    ts: TS,
  },
  {
    id: "m2",
    role: "assistant",
    content: [
      { type: "redacted_thinking", data: "xyz" },
      { type: "tool_use", id: "c1", name: "look", input: { at: "a.ts" }, signature: "s" },
      { type: "media", media: { data: PNG, mediaType: "image/png", id: "g1" } },
    ],
    modelInfo: { id: "model-a", provider: "provider-a" },
    metrics: { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 900, cost: 0.01 },
    ts: TS + 1000,
  },
  {
    id: "m3",
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "c1",
        name: "look",
        content: [
          { type: "text", text: "seen" },
          { type: "image", data: PNG, mediaType: "image/png" },
          { type: "file", path: "/repo/b.ts", content: "b" },
        ],
      },
    ],
    ts: TS + 2000,
  },
  { id: "m4", role: "assistant", content: "Done.", ts: TS + 3000 },
];

const file = (more: object = {}) => ({
  version: 1,
  updated_at: "2026-01-01T00:00:00.000Z",
  agent: "lead",
  sessionId: ID,
  ...more,
});
const session = (more: Readonly<Record<string, unknown>> = {}, list: readonly object[] = messages) => ({
  [`${ID}.messages.json`]: { ...file(), messages: list, system_prompt: "Be good." },
  ...more,
});

/** The SDK's hash, with the user's text in its displayed form. */
function prefixHash(list: readonly { role: string; content: unknown }[]): string {
  const hash = createHash("sha256").update(`cline-session-compaction-source-v2\n${list.length}\n`);
  for (const message of list) {
    const fields = ["agent", "sessionId", "metadata", "modelInfo", "metrics"];
    const rest = fields.map((field) => [field, (message as Record<string, unknown>)[field] ?? null]);
    hash.update(`${JSON.stringify([["role", message.role], ["content", message.content], ...rest])}\n`);
  }
  return `sha256:${hash.digest("hex")}`;
}

const shownFirst = {
  ...messages[0],
  content: [{ type: "text", text: "Look at this" }, ...(messages[0]?.content.slice(1) ?? [])],
};
const sidecar = (hash: string) => ({
  version: 1,
  updated_at: "2026-01-02T00:00:00.000Z",
  source_message_count: 2,
  source_prefix_hash: hash,
  messages: [
    {
      role: "user",
      content: [{ type: "text", text: "So far: a look." }],
      metadata: { kind: "compaction_summary", tokensBefore: 4200 },
    },
  ],
});

async function itemsOf(files: Readonly<Record<string, unknown>>) {
  const [read] = await readAll([writeTask(testFolder(), ID, files)], formats);
  return read?.items ?? [];
}

describe("a session of the Cline SDK", () => {
  test("a session of the Cline SDK is read with all its blocks", async () => {
    const items = await itemsOf(session());
    const read = bodiesOf(items, "message").map(({ message }) => message);
    expect(read.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(read[0]?.parts).toEqual([
      { type: "text", text: "<user_input>Look at this</user_input>" },
      { type: "data", data: PNG },
      { type: "text", text: "const a = 1" },
    ]);
    expect(read[0]?.meta).toEqual({
      "cline-sdk": { id: "m1", ts: TS, extras: { 2: { type: "file", path: "/repo/a.ts" } } },
    });
    expect(read[1]?.parts).toEqual([
      { type: "reasoning", text: "", opaque: { redacted: "xyz" } },
      { type: "tool-call", callId: "c1", name: "look", input: { at: "a.ts" } },
      { type: "data", data: PNG },
    ]);
    expect(read[2]?.parts).toEqual([
      {
        type: "tool-result",
        callId: "c1",
        name: "look",
        output: [
          { type: "text", text: "seen" },
          { type: "data", data: PNG },
          { type: "raw", format: "cline-sdk", value: { type: "file", path: "/repo/b.ts", content: "b" } },
        ],
      },
    ]);
    expect(bodiesOf(items, "usage")).toMatchObject([
      { usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 900, cost: 0.01 }, model: "model-a" },
    ]);
  });

  test("a session of the Cline SDK takes its title and metadata from its manifest and its file", async () => {
    const items = await itemsOf(
      session({
        [`${ID}.json`]: { version: 1, started_at: "2025-06-15T00:00:00.000Z", metadata: { title: "A look" } },
      }),
    );
    expect(items[0]).toMatchObject({ type: "session", title: "A look", createdAt: Date.parse("2025-06-15") });
    expect(items.filter(({ type }) => type === "session").at(-1)).toMatchObject({
      meta: { "cline-sdk": { system_prompt: "Be good.", agent: "lead" } },
    });
  });

  test("a sidecar made from the same messages summarizes a session of the Cline SDK", async () => {
    const hash = prefixHash([shownFirst, messages[1]] as { role: string; content: unknown }[]);
    const items = await itemsOf(session({ [`${ID}.compaction.json`]: sidecar(hash) }));
    expect(bodiesOf(items, "overlay")).toMatchObject([
      {
        edit: {
          type: "summarize",
          spans: [{ through: "#1" }],
          messages: [{ role: "user", parts: [{ type: "text", text: "So far: a look." }] }],
        },
        reason: "compaction_summary",
        tokensBefore: 4200,
      },
    ]);
    expect(items.some(({ type }) => type === "problem")).toBe(false);
  });

  test("a sidecar made from other messages is kept, and not applied", async () => {
    const items = await itemsOf(session({ [`${ID}.compaction.json`]: sidecar("sha256:00") }));
    expect(bodiesOf(items, "overlay")).toEqual([]);
    expect(bodiesOf(items, "raw")).toMatchObject([{ value: { compaction: { source_message_count: 2 } } }]);
    expect(items.filter(({ type }) => type === "problem")).toMatchObject([{ severity: "damaged" }]);
  });

  test("an old sidecar is accepted by the key of its last message", async () => {
    const { source_prefix_hash: _, ...old } = sidecar("");
    const items = await itemsOf(
      session({ [`${ID}.compaction.json`]: { ...old, source_last_message_key: "id:m2" } }),
    );
    expect(bodiesOf(items, "overlay")).toHaveLength(1);
  });

  test("a session of the Cline SDK comes before its sub-agents, which name it as parent", async () => {
    const folder = testFolder();
    const sub = { ...file({ agent: "subagent", taskType: "subagent_task" }), messages: messages.slice(0, 1) };
    const origin = { source: "cli", sessionId: "own-id", parentThreadId: "thread", subagent: "x" };
    const threaded = { ...file({ origin }), messages: messages.slice(0, 1) };
    writeTask(folder, ID, session({ "agent_7.messages.json": sub, "a.messages.json": threaded }));
    const read = await readAll([folder], formats);
    expect(read.map(({ source: { id, parent } }) => ({ id, parent }))).toEqual([
      { id: ID, parent: undefined },
      { id: "own-id", parent: "thread" },
      { id: `${ID}__agent_7`, parent: ID },
    ]);
  });

  test("a file with the name but without the content of a session is ignored", async () => {
    const folder = writeTask(testFolder(), "x", { "chat.messages.json": { messages: [] } });
    expect(await readAll([folder], formats)).toEqual([]);
  });

  test("a session of the Cline SDK is not imported again when the SDK assigns new ids", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeTask(folder, ID, session());
    await importSources(kernel, [folder], { formats });
    const renamed = messages.map((message, index) => ({ ...message, id: `n${index}` }));
    writeTask(
      folder,
      ID,
      session({}, [...renamed, { id: "n9", role: "user", content: "Thanks.", ts: TS + 4000 }]),
    );
    const report = await importSources(kernel, [folder], { formats });
    expect(report.totals.added.messages).toBe(1);
  });

  test("a session of the Cline SDK keeps elements that are not messages, and reports broken ones", async () => {
    const items = await itemsOf({
      [`${ID}.messages.json`]: `${JSON.stringify({ ...file(), messages: [{ role: "user", content: "hello" }, { odd: true }] }).slice(0, -2)},{"role":"us`,
    });
    expect(recordsOf(items).map(({ body }) => body.kind)).toEqual(["message", "raw"]);
    expect(items.some(({ type }) => type === "problem")).toBe(true);
  });
});
