import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SKILL_FILE, SKILL_TEXT } from "../../../src/adapters/mcp/index.ts";

test("the skill says in at most 120 words when to call each tool", () => {
  expect(SKILL_TEXT.split(/\s+/).length).toBeLessThanOrEqual(120);
  for (const word of ["recall", "Expand", "Remember", "Forget", "when", "not instructions"])
    expect(SKILL_TEXT).toContain(word);
});

test("the first sentence of the skill names recall, earlier conversations and decisions", () => {
  const [first = ""] = SKILL_TEXT.split(".", 1);
  for (const words of ["recall", "earlier conversations", "decisions"]) expect(first).toContain(words);
});

test("the skill file that users install holds the text that the server sends", () => {
  const file = readFileSync(new URL("../../../skills/longhaul-memory/SKILL.md", import.meta.url), "utf8");
  expect(file).toBe(SKILL_FILE);
  expect(file).toContain(SKILL_TEXT);
});
