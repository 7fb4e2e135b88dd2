import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { scribeFormat } from "./scribe-format.ts";

const LINES = [
  { kind: "begin", talk: "t1", scribe: 2, folder: "/srv/bread" },
  {
    kind: "ask",
    id: "1",
    time: "2026-03-01T10:00:00Z",
    text: "How long does the dough rest?",
    mood: "curious",
  },
  { kind: "call", id: "2", tool: "read", input: { path: "recipe.md" }, model: "scribe-large" },
  { kind: "result", id: "2", text: "Rest it for two hours." },
  { kind: "answer", id: "3", text: "Two hours.", model: "scribe-large" },
];

test("the example of a contributed format stores each message, call and result once, and nothing else is lost", async () => {
  const kernel = await testKernel();
  const path = join(testFolder(), "talk.jsonl");
  writeFileSync(path, LINES.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const first = await importSources(kernel, [path], { formats: [scribeFormat] });
  expect(first.problems).toEqual([]);
  expect(first.totals).toMatchObject({ sources: 1, added: { messages: 4, raw: 1 }, lost: 0, damaged: 0 });
  const again = await importSources(kernel, [path], { formats: [scribeFormat] });
  expect(again.totals).toMatchObject({ added: { messages: 0, raw: 0 } });

  await using session = await kernel.session("scribe/t1");
  const { entries } = await session.page({ kinds: ["message"] });
  const messages = entries.flatMap((entry) => (entry.kind === "message" ? [entry.message] : []));
  expect(messages.map(({ role, parts }) => [role, parts.map(({ type }) => type).join()])).toEqual([
    ["user", "text"],
    ["assistant", "tool-call"],
    ["tool", "tool-result"],
    ["assistant", "text"],
  ]);
  expect(messages[0]).toMatchObject({ meta: { scribe: { mood: "curious" } } });
});
