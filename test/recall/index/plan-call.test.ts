import { expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import { parsePlanCall } from "../../../src/recall/index/entry-texts.ts";

const parse = (input: Json) => parsePlanCall({ type: "tool-call", callId: "1", name: "any", input });

test("a plan is recognized by its items, whatever the name of the tool, and its active items are read", () => {
  const todos = [
    { content: "Read the parser", status: "completed" },
    { content: "Fix the lexer", status: "in_progress", activeForm: "Fixing the lexer" },
  ];
  expect(parse({ todos })).toEqual({ active: ["Fix the lexer"] });
  const plan = [
    { step: "Audit the schema", status: "in_progress" },
    { step: "Add tests", status: "pending" },
  ];
  expect(parse({ explanation: "first things first", plan })).toEqual({ active: ["Audit the schema"] });
  expect(parse(JSON.stringify({ plan }))).toEqual({ active: ["Audit the schema"] });
});

test("an item of a plan may be named by its number only", () => {
  expect(parse({ taskId: "3", status: "in_progress" })).toEqual({ active: [], activeId: "3" });
  expect(parse({ taskId: "3", status: "completed" })).toEqual({ active: [] });
});

test("other calls are not taken for plans", () => {
  for (const input of [
    { command: "ls" },
    { files: ["a", "b"] },
    { items: [{ status: "open" }] },
    { todos: [] },
    "ls",
    null,
  ])
    expect(parse(input)).toBeUndefined();
});
