import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { copilotCliFormat } from "../../../src/histories/copilot-cli/copilot-cli-format.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { lastVersions, lineEnds, readGrowing } from "../../support/growing.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, texts } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const SESSION = "5e551011-0000-4000-8000-000000000001";

/** A chain of events with ids e1, e2 … */
function chain(...events: readonly (readonly [type: string, data: object, more?: object])[]): object[] {
  return events.map(([type, data, more], index) => ({
    type,
    data,
    id: `e${index + 1}`,
    timestamp: new Date(Date.UTC(2026, 7, 1, 10, 0, index)).toISOString(),
    parentId: index === 0 ? null : `e${index}`,
    ...more,
  }));
}

const start = [
  "session.start",
  { sessionId: SESSION, version: 1, startTime: "2026-08-01T10:00:00.000Z", context: { cwd: "/code" } },
] as const;
const user = (content: string, more: object = {}) =>
  ["user.message", { content, attachments: [], ...more }] as const;
const answer = (content: string, more: object = {}) =>
  ["assistant.message", { messageId: "m", model: "gpt-x", content, toolRequests: [], ...more }] as const;
const request = (id: string, command: string) => ({ toolCallId: id, name: "bash", arguments: { command } });
const textOfLines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

function stream(records: readonly object[]): string {
  const path = join(testFolder(), `${SESSION}.jsonl`);
  writeFileSync(path, textOfLines(records));
  return path;
}

async function itemsOf(records: readonly object[]): Promise<readonly Item[]> {
  const [read] = await readAll([stream(records)], [copilotCliFormat]);
  return read?.items ?? [];
}

const recordsIn = (items: readonly Item[]) => items.filter((one): one is RecordItem => one.type === "record");
const messagesIn = (items: readonly Item[]) =>
  recordsIn(items).flatMap(({ body }) => (body.kind === "message" ? [body.message] : []));
const usageIn = (items: readonly Item[]) =>
  recordsIn(items).flatMap(({ body }) => (body.kind === "usage" ? [body] : []));
const rawIn = (items: readonly Item[]) =>
  recordsIn(items).flatMap(({ body }) =>
    body.kind === "raw" ? [body.value as { type: string; data: object }] : [],
  );

describe("a session of Copilot CLI", () => {
  test("a session of Copilot CLI names its messages and results by the ids of their events", async () => {
    const items = await itemsOf(
      chain(
        start,
        ["system.message", { role: "system", content: "rules" }],
        user("list it", { interactionId: "i1" }),
        answer("I look", { toolRequests: [request("c1", "ls")], interactionId: "i1", turnId: "0" }),
        ["tool.execution_start", { ...request("c1", "ls"), name: undefined, toolName: "bash", turnId: "0" }],
        [
          "tool.execution_complete",
          { toolCallId: "c1", success: true, result: { content: "a.ts", detailedContent: "a.ts" } },
        ],
        answer("there is a.ts"),
      ),
    );
    expect(recordsIn(items).flatMap(({ id, body }) => (body.kind === "message" ? [id] : []))).toEqual([
      "e2",
      "e3",
      "e4",
      "e6",
      "e7",
    ]);
    expect(messagesIn(items)).toMatchObject([
      { role: "system", parts: [{ type: "text", text: "rules" }] },
      {
        role: "user",
        parts: [{ type: "text", text: "list it" }],
        meta: { "copilot-cli": { interactionId: "i1" } },
      },
      {
        role: "assistant",
        model: "gpt-x",
        parts: [
          { type: "text", text: "I look" },
          { type: "tool-call", callId: "c1", name: "bash", input: { command: "ls" } },
        ],
      },
      { role: "tool", parts: [{ type: "tool-result", callId: "c1", output: "a.ts" }] },
      { role: "assistant", parts: [{ type: "text", text: "there is a.ts" }] },
    ]);
    expect(rawIn(items)).toEqual([]);
    expect(items[0]).toMatchObject({ type: "session", createdAt: Date.UTC(2026, 7, 1, 10) });
  });

  test("a session of Copilot CLI keeps the text that Copilot puts around the user's words in metadata", async () => {
    const [items] = [
      await itemsOf(chain(start, user("hi", { transformedContent: "<now>10</now>\n\nhi\n<end/>" }))),
    ];
    expect(messagesIn(items)[0]).toEqual({
      role: "user",
      parts: [{ type: "text", text: "hi" }],
      meta: { "copilot-cli": { wrapping: ["<now>10</now>\n\n", "\n<end/>"] } },
    });
  });

  test("a session of Copilot CLI keeps a repeated system prompt once", async () => {
    const prompt = ["system.message", { role: "system", content: "rules" }] as const;
    const items = await itemsOf(chain(start, prompt, user("a"), prompt, user("b")));
    expect(messagesIn(items).map(({ role }) => role)).toEqual(["system", "user", "user"]);
    expect(items.some((one) => one.type === "copy")).toBe(true);
  });

  test("a session of Copilot CLI keeps failed calls and calls by the user", async () => {
    const items = await itemsOf(
      chain(
        start,
        ["tool.user_requested", { toolCallId: "u1", toolName: "bash", arguments: { command: "make" } }],
        ["tool.execution_start", { toolCallId: "u1", toolName: "bash", arguments: { command: "make" } }],
        [
          "tool.execution_complete",
          { toolCallId: "u1", success: false, error: { message: "no rule", code: "denied" } },
        ],
      ),
    );
    expect(messagesIn(items)).toEqual([
      {
        role: "assistant",
        parts: [{ type: "tool-call", callId: "u1", name: "bash", input: { command: "make" } }],
        meta: { "copilot-cli": { event: "tool.user_requested" } },
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId: "u1", isError: true, output: "no rule" }],
        meta: { "copilot-cli": { error: { code: "denied" } } },
      },
    ]);
  });

  test("a session of Copilot CLI joins reasoning with the next message, once", async () => {
    const items = await itemsOf(
      chain(
        start,
        user("why"),
        ["assistant.reasoning", { reasoningId: "r1", content: "because" }],
        answer("so", { reasoningText: "because", reasoningOpaque: "gA==" }),
        ["assistant.reasoning", { reasoningId: "r2", content: "alone" }],
        user("stop"),
      ),
    );
    expect(messagesIn(items).map(({ parts }) => parts)).toEqual([
      [{ type: "text", text: "why" }],
      [
        { type: "reasoning", text: "because", opaque: { reasoningOpaque: "gA==" } },
        { type: "text", text: "so" },
      ],
      [{ type: "reasoning", text: "alone" }],
      [{ type: "text", text: "stop" }],
    ]);
  });

  test("a session of Copilot CLI counts output with each message, and the rest at shutdown", async () => {
    const metrics = (usage: object) =>
      ["session.shutdown", { modelMetrics: { "gpt-x": { usage } } }] as const;
    const items = await itemsOf(
      chain(
        start,
        answer("a", { outputTokens: 10, apiCallId: "r1" }),
        answer("b", { outputTokens: 20, apiCallId: "r2" }),
        metrics({ inputTokens: 1000, outputTokens: 35, cacheReadTokens: 900, cacheWriteTokens: 0 }),
        ["session.resume", {}],
        answer("c", { outputTokens: 5, apiCallId: "r3" }),
        metrics({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }),
      ),
    );
    expect(usageIn(items).map(({ usage, request }) => [request, usage])).toEqual([
      ["r1", { outputTokens: 10 }],
      ["r2", { outputTokens: 20 }],
      [undefined, { inputTokens: 100, outputTokens: 5, cacheReadTokens: 900, cacheWriteTokens: 0 }],
      ["r3", { outputTokens: 5 }],
      [undefined, { inputTokens: 100, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }],
    ]);
  });

  test("a session of Copilot CLI attaches a separately stored file where it was first used", async () => {
    const asset = [
      "session.binary_asset",
      { assetId: "sha256:1", type: "image", mimeType: "image/png", data: PIXEL_PNG },
    ] as const;
    const shown = { type: "blob", assetId: "sha256:1", mimeType: "image/png", displayName: "a.png" };
    const result = {
      content: "seen",
      binaryResultsForLlm: [{ type: "image", mimeType: "image/png", data: PIXEL_PNG }],
    };
    const items = await itemsOf(
      chain(
        start,
        asset,
        user("see", { attachments: [shown] }),
        ["tool.execution_complete", { toolCallId: "c1", success: true, result }],
        user("again", { attachments: [shown] }),
        ["session.binary_asset", { assetId: "sha256:2", data: PIXEL_PNG }],
      ),
    );
    const [first, answered, second] = messagesIn(items);
    expect(first?.parts?.[1]).toMatchObject({ type: "data", data: PIXEL_PNG, name: "a.png" });
    expect(answered?.parts?.[0]).toMatchObject({
      output: [
        { type: "text", text: "seen" },
        { type: "data", data: PIXEL_PNG },
      ],
    });
    expect(second?.parts?.[1]).toMatchObject({ type: "raw", value: shown });
    expect(rawIn(items)).toMatchObject([{ type: "session.binary_asset" }]);
  });

  test("a session of Copilot CLI gives sub-agents sessions of their own", async () => {
    const kernel = await testKernel();
    const path = stream(
      chain(
        start,
        user("delegate"),
        answer("", { toolRequests: [{ toolCallId: "t1", name: "task", arguments: {} }] }),
        ["user.message", { content: "the task" }, { agentId: "t1" }],
        ["assistant.message", { content: "done below", parentToolCallId: "t1" }],
        ["tool.execution_complete", { toolCallId: "t1", success: true, result: { content: "done" } }],
      ),
    );
    const report = await importSources(kernel, [path], { formats: [copilotCliFormat] });
    expect(report.totals.found).toMatchObject({ messages: 5, children: 1 });
    await using child = await kernel.session(`copilot-cli/${SESSION}/t1`);
    expect(texts(await child.page({ kinds: ["message"] }))).toEqual(["the task", "done below"]);
  });

  test("a session of Copilot CLI reads errors as notices, and keeps unknown events", async () => {
    const items = await itemsOf(
      chain(
        start,
        ["session.error", { message: "quota", errorType: "quota" }],
        ["novelty.happened", { a: 1 }],
      ),
    );
    expect(recordsIn(items).map(({ id, body }) => [id, body.kind])).toEqual([
      ["e2", "notice"],
      ["e2:extra", "raw"],
      ["e3", "raw"],
    ]);
  });
});

describe("the window of Copilot CLI", () => {
  test("a compaction summarizes the messages from before its start", async () => {
    const items = await itemsOf(
      chain(
        start,
        user("one"),
        answer("two"),
        ["session.compaction_start", {}],
        user("meanwhile"),
        [
          "session.compaction_complete",
          {
            success: true,
            summaryContent: "so far",
            preCompactionTokens: 90,
            postCompactionTokens: 9,
            checkpointNumber: 1,
          },
        ],
        ["session.compaction_complete", { success: false, error: "no answer" }],
        ["session.context_cleared", { messagesCleared: 3 }],
      ),
    );
    const edits = recordsIn(items).flatMap(({ body }) => (body.kind === "overlay" ? [body] : []));
    expect(edits).toMatchObject([
      {
        edit: { type: "summarize", spans: [{ through: "e3" }], messages: [{ role: "user", text: "so far" }] },
        tokensBefore: 90,
        tokensAfter: 9,
      },
      { edit: { type: "hide", spans: [{}] } },
    ]);
  });

  test("a rewind of Copilot CLI returns to before a message of the user", async () => {
    const kernel = await testKernel();
    const path = stream(
      chain(
        start,
        user("one"),
        answer("two"),
        user("three"),
        answer("four"),
        ["session.snapshot_rewind", { upToEventId: "e4", eventsRemoved: 2 }],
        user("five"),
        ["session.snapshot_rewind", { upToEventId: "gone", eventsRemoved: 0 }],
      ),
    );
    await importSources(kernel, [path], { formats: [copilotCliFormat] });
    await using session = await kernel.session(`copilot-cli/${SESSION}`);
    expect(texts(await session.page({ kinds: ["message"] }))).toEqual(["one", "two", "five"]);
  });
});

describe("finding sessions of Copilot CLI", () => {
  test("sessions of Copilot CLI are named by their id or by their file", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, SESSION));
    writeFileSync(join(folder, SESSION, "events.jsonl"), textOfLines(chain(start)));
    writeFileSync(join(folder, "other.jsonl"), textOfLines(chain(user("no start"))));
    writeFileSync(
      join(folder, "claude.jsonl"),
      textOfLines([{ type: "user", message: {}, parentUuid: null }]),
    );
    const found = await sourcesAt([folder], [copilotCliFormat]);
    expect(found.map(({ source }) => [source.id, source.cwd])).toEqual([
      ["other", undefined],
      [SESSION, "/code"],
    ]);
  });

  test("sessions of Copilot CLI are searched in Copilot's home folder", () => {
    const system = { home: "/people/me", platform: "linux", env: {} } as const;
    expect(copilotCliFormat.homes(system)).toEqual(["/people/me/.copilot/session-state"]);
  });
});

test("a session of Copilot CLI gives the same records at once and line by line", async () => {
  const text = textOfLines(
    chain(
      start,
      ["system.message", { role: "system", content: "rules" }],
      user("one"),
      ["assistant.reasoning", { content: "hm" }],
      answer("two", { toolRequests: [request("c1", "ls")], outputTokens: 3 }),
      ["tool.execution_start", { toolCallId: "c1", toolName: "bash", arguments: { command: "ls" } }],
      ["tool.execution_complete", { toolCallId: "c1", success: true, result: { content: "a.ts" } }],
      ["session.compaction_start", {}],
      ["session.compaction_complete", { success: true, summaryContent: "so far" }],
      ["session.shutdown", { modelMetrics: { "gpt-x": { usage: { inputTokens: 9, outputTokens: 3 } } } }],
    ),
  );
  const path = join(testFolder(), `${SESSION}.jsonl`);
  const whole = lastVersions(await readGrowing(path, text, [], copilotCliFormat));
  const grown = lastVersions(await readGrowing(path, text, lineEnds(text), copilotCliFormat));
  expect(new Map([...grown].sort())).toEqual(new Map([...whole].sort()));
});

sizedTest("no event of Copilot CLI makes reading fail, whatever the values of its fields", async () => {
  const types = [
    "session.start",
    "system.message",
    "user.message",
    "assistant.message",
    "assistant.reasoning",
    "tool.execution_start",
    "tool.execution_complete",
    "session.binary_asset",
    "session.compaction_complete",
    "session.snapshot_rewind",
    "session.shutdown",
    "session.error",
    "__proto__.constructor",
  ];
  const value = fc.jsonValue({ maxDepth: 3 });
  const names = [
    "content",
    "toolRequests",
    "toolCallId",
    "toolName",
    "arguments",
    "result",
    "error",
    "model",
    "outputTokens",
    "attachments",
    "modelMetrics",
    "assetId",
    "data",
    "mimeType",
    "summaryContent",
    "upToEventId",
    "transformedContent",
  ];
  const data = fc.dictionary(fc.constantFrom(...names), value);
  const events = fc.array(
    fc.tuple(fc.constantFrom(...types), fc.oneof(data, value), fc.record({ agentId: value })),
  );
  await fc.assert(
    fc.asyncProperty(events, async (list) => {
      const records = list.map(([type, fields, more]) => [type, fields as object, more] as const);
      expect(await itemsOf(chain(start, ...records))).not.toEqual([]);
    }),
    { numRuns: proofRounds(100) },
  );
});
