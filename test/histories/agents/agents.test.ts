import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../../src/histories/formats.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), "fixtures");

/** The conversations of each agent's fixture: sessions, messages, calls, and words of one message. */
const EXPECTED: Readonly<
  Record<string, readonly [sessions: number, messages: number, calls: number, words: string]>
> = {
  aider: [3, 7, 0, "Show me the failing query"],
  amp: [1, 4, 1, "Turn on the linter"],
  antigravity: [1, 5, 2, "everything: main.o"],
  chatgpt: [3, 4, 0, "How warm should the dough be?"],
  "claude-ai": [2, 2, 0, "When do I prune roses?"],
  continue: [1, 4, 1, "Read the notes and tell me the word of the day."],
  crush: [2, 6, 1, "Make links blue"],
  cursor: [3, 8, 1, "Why is this stale?"],
  "cursor-cli": [2, 4, 1, "Explain the cache key"],
  droid: [1, 4, 1, "Why is test_retry flaky?"],
  goose: [2, 5, 1, "Fix the header"],
  grok: [2, 14, 2, "fn stream()"],
  hermes: [2, 5, 1, "The fetcher never backs off"],
  kilo: [2, 4, 1, "Rename --fast to --quick."],
  "kilo-code": [1, 3, 1, "Add a licence header"],
  kimi: [1, 5, 1, "Sort the imports."],
  "kimi-code": [2, 5, 1, "Why does the token cache go stale?"],
  kiro: [3, 12, 3, "the folder is read-only"],
  omp: [1, 4, 1, "List the migrations."],
  openhands: [1, 5, 1, "Fix the parser"],
  "qwen-code": [1, 4, 1, "Read the notes and tell me the word of the day."],
  "trae-cli": [1, 4, 1, "Which port does the server use?"],
  vibe: [1, 4, 1, "Write a haiku about builds"],
  "vscode-chat": [2, 5, 1, "where is the parser?"],
  zed: [2, 4, 1, "Where does Zed keep threads?"],
};

/** Copies a fixture into a home folder and makes its databases. */
function unpackFixture(agent: string): string {
  const home = testFolder();
  cpSync(join(FIXTURES, agent), home, { recursive: true });
  for (const path of listFiles(home).filter((one) => one.endsWith(".sql"))) {
    const database = new DatabaseSync(path.slice(0, -".sql".length));
    database.exec(readFileSync(path, "utf8"));
    database.close();
    rmSync(path);
  }
  return home;
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/** Names and kinds of records: longhaul keeps them as records of its intake, roles and kinds of parts. */
const STRUCTURE = new Set([
  ...["type", "kind", "role", "sender", "source", "sessionUpdate", "status", "operationType"],
  ...["id", "uuid", "parentUuid", "requestId", "k"],
]);
const PICTURE = /^iVBORw0KGgo/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+)?$/;

/** The words of a fixture, read without any of our readers. */
function collectWords(agent: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const path of listFiles(join(FIXTURES, agent))) {
    const text = readFileSync(path, "utf8");
    const values = path.endsWith(".md")
      ? [text.replace(/^# aider chat started at/gm, "")]
      : findStrings(text, path.endsWith(".sql"));
    for (const value of values)
      for (const word of value.replace(/<\/?USER_REQUEST>/g, "").match(/[\p{L}\p{N}]{3,}/gu) ?? [])
        words.add(word);
  }
  return words;
}

/** All values of strings in JSON, lines of JSON, or JSON inside of SQL. */
function findStrings(text: string, isSql: boolean): readonly string[] {
  const documents = isSql
    ? [...text.matchAll(/'([[{](?:[^']|'')*)'/g)].map(([, json = ""]) => json.replaceAll("''", "'"))
    : toDocuments(text);
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === "string" && !TIME.test(value) && !PICTURE.test(value)) found.push(value);
    else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value)) if (!STRUCTURE.has(name)) visit(inner);
  };
  for (const document of documents) visit(JSON.parse(document));
  return found;
}

function toDocuments(text: string): readonly string[] {
  try {
    JSON.parse(text);
    return [text];
  } catch {
    return text.split("\n").filter((line) => line.trim() !== "");
  }
}

/** Everything that a store has of its sessions: records, entries and the content of blobs. */
async function readStore(kernel: Kernel): Promise<string> {
  const pieces: string[] = [];
  for (const record of await kernel.sessions({ limit: 1_000 })) {
    pieces.push(JSON.stringify(record));
    await using session = await kernel.session(record.id);
    const { seq } = await session.head();
    for (const entry of seq > 0 ? await session.read({ from: 1, to: seq, limit: 1_000 }) : [])
      pieces.push(JSON.stringify(entry));
  }
  return pieces.join("\n");
}

describe("the history of an agent", () => {
  test.each(Object.keys(EXPECTED))(
    "the history of %s is imported without a lost word, and once",
    async (agent) => {
      const home = unpackFixture(agent);
      const format = FORMATS.find(({ name }) => name === agent);
      const kernel = await testKernel();
      const [sessions, messages, calls, words] = EXPECTED[agent] ?? [0, 0, 0, ""];
      const report = await importSources(kernel, [home]);
      expect(Object.keys(report.formats)).toEqual([agent]);
      expect(report.problems.filter(({ reason }) => !/bubble b4/.test(reason))).toEqual([]);
      const { added } = report.totals;
      const stored = await readStore(kernel);
      expect([(await kernel.sessions({ limit: 100 })).length, added.messages, added.toolCalls]).toEqual([
        sessions,
        messages,
        calls,
      ]);
      expect(stored).toContain(words);
      const lost = [...collectWords(agent)].filter((word) => !stored.includes(word));
      expect(lost).toEqual([]);
      const again = await importSources(kernel, [home]);
      expect(Object.values(again.totals.added).every((count) => count === 0)).toBe(true);
      // The agent's own folder is found, except for exports and folders of projects.
      const homes = format?.homes({ home, platform: "linux", env: {} }) ?? [];
      const isFound = homes.some((path) => listThere(path).length > 0);
      expect(isFound).toBe(!["chatgpt", "claude-ai", "crush", "aider"].includes(agent));
    },
  );
});

function listThere(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

test("the window of Grok Build leaves out rewound prompts and begins with the summary of its compaction", async () => {
  const kernel = await testKernel();
  await importSources(kernel, [unpackFixture("grok")]);
  const records = await kernel.sessions({ limit: 10 });
  const parent = records.find(({ parent }) => parent === undefined);
  const child = records.find((one) => one.parent !== undefined);
  expect(child?.parent).toBe(parent?.id);
  await using session = await kernel.session(parent?.id as string);
  const window = JSON.stringify((await session.window({ model: "claude-sonnet-4-5" }).fit()).messages);
  expect(window).toMatch(/Summary: the stream was inspected.*Go on.*Going on/s);
  expect(window).not.toContain("Inspect the stream");
  const line = JSON.stringify((await session.page({ limit: 50 })).entries);
  expect(line).toContain("stream.rs:4: fn stream()");
  expect(line).toContain("- main.rs");
  expect(line).not.toContain("Delete everything");
});

test("an output of Antigravity answers its call, whose arguments are decoded", async () => {
  const kernel = await testKernel();
  await importSources(kernel, [unpackFixture("antigravity")]);
  const [record] = await kernel.sessions({ limit: 1 });
  await using session = await kernel.session(record?.id as string);
  const { seq } = await session.head();
  const entries = await session.read({ from: 1, to: seq, limit: 50 });
  const parts = entries.flatMap((entry) => (entry.kind === "message" ? entry.message.parts : []));
  expect(parts.filter(({ type }) => type === "tool-call" || type === "tool-result")).toMatchObject([
    { callId: "S2C0", name: "run_command", input: { CommandLine: 'make "all"', Cwd: "/project" } },
    { callId: "S2C1", name: "view_file" },
    { callId: "S2C0", isError: true },
    { callId: "S2C1", output: [{ text: "everything: main.o" }] },
  ]);
});

test("a database in use is read without a trace in its folder", async () => {
  const home = unpackFixture("crush");
  const path = join(home, "project", ".crush", "crush.db");
  const owner = new DatabaseSync(path);
  owner.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; UPDATE sessions SET title = 'half'");
  const before = readdirSync(dirname(path));
  const kernel = await testKernel();
  const { totals } = await importSources(kernel, [home]);
  expect(totals.added.messages).toBe(6);
  owner.exec("COMMIT");
  owner.close();
  expect(readdirSync(dirname(path)).length).toBeLessThanOrEqual(before.length);
  mkdirSync(join(home, "empty"));
});
