import { relative } from "node:path";
import { expect, test } from "vitest";
import { readSources } from "./source-graph.ts";

/** The module that knows how an id is made up. */
const OWNER = "model/session-key.ts";
/** Searches for a piece of an id that a person typed; several matches are refused. */
const SEARCHES = ["cli/find-session.ts", "cli/tasks/find-task.ts"];
/** Rooms whose variables of these names hold other ids: of foreign tools and of calls. */
const OTHERS = /^(?:histories|wire|stores)\//;

const RECEIVER = String.raw`\b(?:id|root|family|session|[a-z]\w*Session|sessionId|(?:\w+\.)+(?:id|session))`;
const COMPARED = new RegExp(String.raw`${RECEIVER}\??\.(?:startsWith|endsWith|split)\(`);

test("no module but one compares session ids by their beginnings, ends or pieces", () => {
  const found = readSources("src").flatMap(({ path, text }) => {
    const name = relative("src", path);
    if (name === OWNER || SEARCHES.includes(name) || OTHERS.test(name)) return [];
    return text
      .split("\n")
      .filter((line) => COMPARED.test(line))
      .map((line) => `${name}: ${line.trim()}`);
  });
  expect(found).toEqual([]);
});

test("the check finds the comparisons that once mixed conversations", () => {
  for (const line of ["if (id.startsWith(root))", 'session.split("/")', "record.id.startsWith(prefix)"])
    expect(COMPARED.test(line)).toBe(true);
});
