import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { geminiCliFormat } from "../../../src/histories/gemini-cli/gemini-cli-format.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { lastVersions, lineEnds, readGrowing } from "../../support/growing.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel, texts } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const SESSION = "9e311111-0000-4000-8000-000000000001";
const NAME = "session-2026-08-01T10-00-9e311111.jsonl";
const AT = "2026-08-01T10:00:00.000Z";

const head = { sessionId: SESSION, projectHash: "p1", startTime: AT, lastUpdated: AT, kind: "main" };
const user = (id: string, content: unknown) => ({ id, timestamp: AT, type: "user", content });
const gemini = (id: string, content: unknown, more: object = {}) => ({
  id,
  timestamp: AT,
  type: "gemini",
  content,
  model: "gemini-x",
  ...more,
});
const response = (id: string, output: string) => ({
  functionResponse: { id, name: "read_file", response: { output } },
});
const call = (id: string, output?: string) => ({
  id,
  name: "read_file",
  args: { path: "a.ts" },
  status: output === undefined ? "executing" : "success",
  ...(output !== undefined && { result: [response(id, output)] }),
});
const tokens = { input: 100, output: 7, cached: 80, thoughts: 5, tool: 0, total: 112 };
const textOfLines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

function chat(records: readonly object[], name = NAME): string {
  const path = join(testFolder(), name);
  writeFileSync(path, textOfLines(records));
  return path;
}

async function itemsAt(path: string): Promise<readonly Item[]> {
  const [read] = await readAll([path], [geminiCliFormat]);
  return read?.items ?? [];
}

async function lineOf(paths: readonly string[]): Promise<string[]> {
  const kernel = await testKernel();
  for (const path of paths) await importSources(kernel, [path], { formats: [geminiCliFormat] });
  await using session = await kernel.session(`gemini-cli/${SESSION}`);
  return texts(await session.page({ kinds: ["message"] }));
}

const recordsIn = (items: readonly Item[]) => items.filter((one): one is RecordItem => one.type === "record");
const messagesIn = (items: readonly Item[]) =>
  recordsIn(items).flatMap(({ body }) => (body.kind === "message" ? [body.message] : []));

describe("a chat of Gemini CLI", () => {
  test("a chat of Gemini CLI is read with thoughts, calls, usage and tool results", async () => {
    const thoughts = [{ subject: "Plan", description: "read it", timestamp: AT }];
    const items = await itemsAt(
      chat([
        head,
        user("u1", "fix it"),
        gemini("g1", "I look", { thoughts, tokens, toolCalls: [call("c1", "x = 1")] }),
      ]),
    );
    expect(recordsIn(items).map(({ id, at }) => [id, at])).toEqual([
      ["u1", Date.parse(AT)],
      ["g1", Date.parse(AT)],
      ["g1:usage", Date.parse(AT)],
      ["g1:results", Date.parse(AT)],
    ]);
    expect(messagesIn(items)).toEqual([
      { role: "user", parts: [{ type: "text", text: "fix it" }] },
      {
        role: "assistant",
        model: "gemini-x",
        parts: [
          { type: "reasoning", text: "Plan\n\nread it" },
          { type: "text", text: "I look" },
          { type: "tool-call", callId: "c1", name: "read_file", input: { path: "a.ts" } },
        ],
        meta: { "gemini-cli": { thoughts: [{ timestamp: AT }], calls: { c1: { status: "success" } } } },
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId: "c1", name: "read_file", output: "x = 1" }],
      },
    ]);
    expect(recordsIn(items)[2]?.body).toEqual({
      kind: "usage",
      model: "gemini-x",
      usage: { inputTokens: 20, outputTokens: 12, cacheReadTokens: 80, reasoningTokens: 5 },
    });
  });

  test("a chat of Gemini CLI keeps pictures as data, in messages and in tool results", async () => {
    const inlineData = { mimeType: "image/png", data: PIXEL_PNG };
    const functionResponse = {
      id: "c1",
      name: "shot",
      response: { output: "shown" },
      parts: [{ inlineData }],
    };
    const items = await itemsAt(
      chat([
        head,
        user("u1", [{ text: "see" }, { inlineData }, { fileData: { fileUri: "gs://x" } }]),
        gemini("g1", "", {
          toolCalls: [{ id: "c1", name: "shot", args: {}, result: [{ functionResponse }] }],
        }),
      ]),
    );
    const [asked, , answered] = messagesIn(items);
    expect(asked?.parts).toMatchObject([
      { type: "text" },
      { type: "data", data: PIXEL_PNG },
      { type: "raw" },
    ]);
    expect(answered?.parts?.[0]).toMatchObject({
      output: [
        { type: "text", text: "shown" },
        { type: "data", data: PIXEL_PNG },
      ],
    });
  });

  test("a chat of Gemini CLI marks failed tools", async () => {
    const failed = { functionResponse: { id: "c1", name: "sh", response: { error: "no such file" } } };
    const toolCalls = [{ id: "c1", name: "sh", args: {}, status: "error", result: [failed] }, call("c2")];
    const items = await itemsAt(chat([head, gemini("g1", "", { toolCalls })]));
    expect(messagesIn(items)[1]?.parts).toEqual([
      { type: "tool-result", callId: "c1", name: "sh", isError: true, output: "no such file" },
    ]);
  });

  test("a chat of Gemini CLI reads warnings as notices, and keeps unknown records", async () => {
    const items = await itemsAt(
      chat([
        head,
        { id: "i1", timestamp: AT, type: "warning", content: "careful" },
        { id: "x1", type: "new" },
        { odd: 1 },
      ]),
    );
    expect(recordsIn(items).map(({ id, body }) => [id, body.kind])).toEqual([
      ["i1", "notice"],
      ["i1:extra", "raw"],
      // The last message is held back while it may grow.
      ["L4", "raw"],
      ["x1", "raw"],
    ]);
  });

  test("a chat of Gemini CLI keeps the last version of a message that was written several times", async () => {
    const grown = gemini("g1", "I look", { toolCalls: [call("c1")] });
    const records = [
      head,
      user("u1", "go"),
      gemini("g1", "I look"),
      { $set: { lastUpdated: AT } },
      grown,
      { ...grown, tokens, toolCalls: [call("c1", "done")] },
      user("u2", "thanks"),
    ];
    const items = await itemsAt(chat(records));
    const ids = recordsIn(items).map(({ id }) => id);
    expect(ids).toEqual(["u1", "g1", "g1:usage", "g1:results", "u2"]);
    expect(items.filter((one) => one.type === "copy")).toHaveLength(2);
  });

  test("a chat of Gemini CLI keeps a message in its place if it is written again later", async () => {
    const records = [head, user("u1", "one"), gemini("g1", "two"), user("u2", "three")];
    const later = gemini("g1", "two and a half", { toolCalls: [call("c1", "done")] });
    const line = await lineOf([chat([...records, later, user("u3", "four")])]);
    expect(line).toEqual(["one", "two and a half[tool-call]", "[tool-result]", "three", "four"]);
  });

  test("a chat of Gemini CLI applies settings of the whole chat", async () => {
    const scratchpad = { notes: "n".repeat(5_000) };
    const items = await itemsAt(
      chat([
        head,
        { $set: { summary: "Fix the test", directories: ["/code"] } },
        { $set: { memoryScratchpad: scratchpad } },
      ]),
    );
    const session = items.findLast((one) => one.type === "session");
    expect(session).toMatchObject({
      title: "Fix the test",
      createdAt: Date.parse(AT),
      meta: { "gemini-cli": { projectHash: "p1", directories: ["/code"] } },
    });
    expect(recordsIn(items)).toMatchObject([
      { id: "L3", body: { kind: "raw", value: { memoryScratchpad: scratchpad } } },
    ]);
  });
});

describe("the line of a Gemini chat", () => {
  const talk = [
    head,
    user("u1", "one"),
    gemini("g1", "two", { tokens }),
    user("u2", "three"),
    gemini("g2", "four"),
  ];

  test("a rewind of a Gemini chat returns to before a message", async () => {
    expect(await lineOf([chat([...talk, { $rewindTo: "u2" }, user("u3", "five")])])).toEqual([
      "one",
      "two",
      "five",
    ]);
    expect(await lineOf([chat([...talk, { $rewindTo: "u2" }])])).toEqual(["one", "two"]);
  });

  test("a tool result repeated on a line of its own is stored once, and a rewind returns to before that line", async () => {
    const asked = gemini("g1", "I look", { toolCalls: [call("c1", "x = 1")] });
    const records = [head, user("u1", "fix it"), asked, user("u2", [response("c1", "x = 1")])];
    expect(recordsIn(await itemsAt(chat(records))).map(({ id }) => id)).toEqual(["u1", "g1", "g1:results"]);
    const other = [...records.slice(0, 3), user("u2", [response("c1", "[shortened]")])];
    expect(recordsIn(await itemsAt(chat(other))).map(({ id }) => id)).toEqual([
      "u1",
      "g1",
      "g1:results",
      "u2",
    ]);
    const rewound = [...records, gemini("g2", "Done"), { $rewindTo: "u2" }];
    expect((await lineOf([chat(rewound)])).at(0)).toBe("fix it");
    expect(await lineOf([chat(rewound)])).not.toContain("Done");
  });

  test("a rewind to a missing message of a Gemini chat leaves no message active", async () => {
    expect(await lineOf([chat([...talk, { $rewindTo: "nowhere" }, user("u3", "five")])])).toEqual(["five"]);
  });

  test("a list of messages that is set replaces the active line of a Gemini chat", async () => {
    const summary = user("s1", "<state_snapshot>so far</state_snapshot>");
    const masked = user("u2", "three, shortened");
    const path = chat([
      ...talk,
      { $set: { messages: [summary, masked, gemini("g2", "four")] } },
      user("u3", "five"),
    ]);
    expect(await lineOf([path])).toEqual([
      "<state_snapshot>so far</state_snapshot>",
      "three, shortened",
      "four",
      "five",
    ]);
  });

  test("a tool result stored in a call and as a message is read once", async () => {
    const asked = gemini("g1", [{ functionCall: { id: "c1", name: "read_file", args: { path: "a.ts" } } }], {
      toolCalls: [call("c1", "done")],
    });
    const answer = user("r1", [response("c1", "done")]);
    const path = chat([
      head,
      user("u1", "go"),
      asked,
      { $set: { messages: [user("u1", "go"), asked, answer] } },
    ]);
    expect(await lineOf([path])).toEqual(["go", "[tool-call]", "[tool-result]"]);
  });
});

describe("a Gemini chat in one file", () => {
  const file = (messages: readonly object[], more: object = {}) =>
    JSON.stringify({ ...head, messages, ...more }, null, 2);

  test("a Gemini chat in one file is read message by message", async () => {
    const path = join(testFolder(), `2026-01-15-${SESSION}.json`);
    writeFileSync(
      path,
      file([user("u1", "one"), gemini("g1", "two", { toolCalls: [call("c1", "done")] })], {
        summary: "Short",
      }),
    );
    const items = await itemsAt(path);
    expect(recordsIn(items).map(({ id, parent }) => [id, parent])).toEqual([
      ["u1", null],
      ["g1", "u1"],
      ["g1:results", "g1"],
    ]);
    expect(items.findLast((one) => one.type === "session")).toMatchObject({ title: "Short" });
  });

  test("a Gemini chat in one file loses messages that were taken back since", async () => {
    const kernel = await testKernel();
    const path = join(testFolder(), "session-old.json");
    const [one, two, three] = [user("u1", "one"), gemini("g1", "two"), user("u2", "three")];
    const line = async (messages: readonly object[]) => {
      writeFileSync(path, file(messages));
      await importSources(kernel, [path], { formats: [geminiCliFormat] });
      await using session = await kernel.session(`gemini-cli/${SESSION}`);
      return texts(await session.page({ kinds: ["message"] }));
    };
    expect(await line([one, two, three])).toEqual(["one", "two", "three"]);
    expect(await line([one, two])).toEqual(["one", "two"]);
    expect(await line([one, two, user("u3", "other")])).toEqual(["one", "two", "other"]);
    expect(await line([one, two, user("u3", "other"), gemini("g3", "yes")])).toEqual([
      "one",
      "two",
      "other",
      "yes",
    ]);
  });

  test("a Gemini chat in one cut file is read up to the cut", async () => {
    const path = join(testFolder(), "session-cut.json");
    writeFileSync(path, file([user("u1", "one"), gemini("g1", "two")]).slice(0, -60));
    const items = await itemsAt(path);
    expect(messagesIn(items)).toHaveLength(1);
    expect(items.filter((one) => one.type === "problem")).toMatchObject([{ severity: "lost" }]);
  });

  test("a Gemini chat in one file gives way to the JSONL file of its resumption", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, NAME.slice(0, -1)), file([user("u1", "one")]));
    writeFileSync(join(folder, NAME), textOfLines([head, user("u1", "one"), user("u2", "two")]));
    const found = await sourcesAt([folder], [geminiCliFormat]);
    expect(found.map(({ source }) => source.path)).toEqual([join(folder, NAME)]);
  });
});

describe("finding Gemini chats", () => {
  test("a Gemini chat is named by its id, and a sub-agent names its parent", async () => {
    const folder = testFolder();
    const chats = join(folder, "project", "chats");
    mkdirSync(join(chats, SESSION), { recursive: true });
    writeFileSync(join(chats, NAME), textOfLines([head]));
    writeFileSync(
      join(chats, SESSION, "sub.jsonl"),
      textOfLines([{ ...head, sessionId: "sub", kind: "subagent" }]),
    );
    writeFileSync(
      join(folder, "project", "logs.json"),
      JSON.stringify([{ sessionId: SESSION, message: "hi" }]),
    );
    const found = await sourcesAt([folder], [geminiCliFormat]);
    expect(found.map(({ source }) => [source.id, source.parent])).toEqual([
      [SESSION, undefined],
      ["sub", SESSION],
    ]);
  });

  test("Gemini chats are searched in Gemini's home folder", () => {
    const system = { home: "/people/me", platform: "linux", env: {} } as const;
    expect(geminiCliFormat.homes(system)).toEqual(["/people/me/.gemini/tmp"]);
  });
});

describe("a Gemini chat that grows", () => {
  const story = [
    head,
    user("u1", "one"),
    { $set: { lastUpdated: AT } },
    gemini("g1", "two"),
    gemini("g1", "two", { tokens }),
    gemini("g1", "two", { tokens, toolCalls: [call("c1")] }),
    gemini("g1", "two", { tokens, toolCalls: [call("c1", "done")] }),
    { id: "i1", timestamp: AT, type: "info", content: "saved" },
    user("u2", "three"),
    gemini("g2", "four"),
    { $rewindTo: "u2" },
    user("u3", "five"),
    { $set: { messages: [user("s1", "so far"), user("u3", "five")] } },
    gemini("g3", "six"),
  ];

  test("a growing Gemini chat gives the same records at once and line by line", async () => {
    const text = textOfLines(story);
    const path = join(testFolder(), NAME);
    const whole = lastVersions(await readGrowing(path, text, [], geminiCliFormat));
    const grown = lastVersions(await readGrowing(path, text, lineEnds(text), geminiCliFormat));
    expect(new Map([...grown].sort())).toEqual(new Map([...whole].sort()));
  });

  test("a growing Gemini chat gives the same line in the log at once and line by line", async () => {
    const lines: string[][] = [];
    for (const step of [story.length, 1]) {
      const kernel = await testKernel();
      const path = join(testFolder(), NAME);
      for (let end = step; end <= story.length; end += step) {
        writeFileSync(path, textOfLines(story.slice(0, end)));
        await importSources(kernel, [path], { formats: [geminiCliFormat] });
      }
      await using session = await kernel.session(`gemini-cli/${SESSION}`);
      lines.push(texts(await session.page({ kinds: ["message"] })));
    }
    expect(lines[1]).toEqual(lines[0]);
    expect(lines[0]).toEqual(["so far", "five", "six"]);
  });
});

sizedTest("no line of a Gemini chat makes reading fail, whatever the values of its fields", async () => {
  const value = fc.jsonValue({ maxDepth: 2 });
  const id = fc.constantFrom("a", "b", "c", "__proto__");
  const part = fc.dictionary(
    fc.constantFrom("text", "thought", "inlineData", "functionCall", "functionResponse"),
    value,
  );
  const message = fc.record(
    {
      id,
      timestamp: value,
      type: fc.constantFrom("user", "gemini", "info", "else"),
      content: fc.oneof(value, fc.array(part)),
      toolCalls: fc.oneof(
        value,
        fc.array(fc.record({ id: value, name: value, args: value, result: value, status: value })),
      ),
      thoughts: value,
      tokens: value,
      displayContent: value,
    },
    { requiredKeys: ["id", "type"] },
  );
  const line = fc.oneof(
    message,
    fc.record({ $rewindTo: id }),
    fc.record({
      $set: fc.oneof(fc.record({ messages: fc.array(message) }), fc.dictionary(fc.string(), value)),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line), async (lines) => {
      const [read] = await readAll([chat([head, ...lines])], [geminiCliFormat]);
      expect(read?.items).toBeDefined();
    }),
    { numRuns: proofRounds(60) },
  );
});
