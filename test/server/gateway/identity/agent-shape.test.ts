import { describe, expect, test } from "vitest";
import {
  buildShape,
  compareShapes,
  isSameShape,
} from "../../../../src/server/gateway/identity/request-kind.ts";

const TOOLS = ["Bash", "Edit", "Grep", "Read", "Write"];
const INTRODUCTION = "You are the agent of a program, and help its users with their work in a shell.\n";
const MAIN =
  `${INTRODUCTION}Work on tasks until they are done. Read before you write. Ask when in doubt about what is
wanted, and say what you did when you are done. Tests are run before anything is called finished. `.repeat(2);
const EXPLORER = `${INTRODUCTION}Search the files of the project for what is asked. Never change anything. Answer with
paths and lines only, as many as are of use, and with nothing else.`;

const shape = (lead: string, toolNames: readonly string[] = TOOLS) => buildShape({ lead, toolNames });

describe("the shape of an agent's requests", () => {
  test("an agent's shape stays the same over days, folders and token counts", () => {
    const on = (day: string, folder: string, tokens: number) =>
      shape(`${MAIN}\nToday is ${day}. You work in ${folder} now. ${tokens} tokens are left.`);
    const one = on("Monday, March 3, 2025 10:12:01", "/people/ann/project", 120_331);
    const other = on("2026-11-15T08:00:00Z", "/repo/other-folder/deep", 7);
    expect(isSameShape(one, other)).toBe(true);
    expect(one.digest).toBe(other.digest);
  });

  test("an agent's shape does not depend on billing headers or the order of tools", () => {
    const billed = shape(`x-anthropic-billing-header: cc_version=2.1.325.aaf; cc_entrypoint=cli;\n${MAIN}`);
    expect(billed.digest).toBe(shape(MAIN, [...TOOLS].reverse()).digest);
  });

  test("an agent's shape tolerates tools of MCP servers and a longer system prompt", () => {
    const more = [...TOOLS, "mcp__github__search", "mcp__github__read", "Extra"];
    expect(isSameShape(shape(MAIN), shape(MAIN, more))).toBe(true);
    const memory = "Remember that the person likes short answers and tabs instead of spaces.";
    expect(isSameShape(shape(MAIN), shape(`${MAIN}\n${memory}`))).toBe(true);
  });

  test("the shapes of an agent, its sub-agents and questions without tools differ", () => {
    const shapes = [
      shape(MAIN),
      shape(EXPLORER, ["Grep", "Read"]),
      shape("You are a title generator. You output only a title.", []),
      shape("You summarise conversations.", []),
    ];
    for (const one of shapes) {
      for (const other of shapes) expect(isSameShape(one, other)).toBe(one === other);
    }
  });

  test("two shapes can be compared by similarity", () => {
    expect(compareShapes(shape(MAIN), shape(MAIN))).toBe(1);
    const changed = compareShapes(shape(MAIN), shape(`${MAIN} One more sentence at the end.`));
    expect(changed).toBeGreaterThan(compareShapes(shape(MAIN), shape(EXPLORER)));
  });

  test("requests without a system prompt have the same shape if they offer the same tools", () => {
    expect(isSameShape(shape(""), shape("", [...TOOLS, "Extra"]))).toBe(true);
    expect(isSameShape(shape(""), shape("", ["other"]))).toBe(false);
    expect(isSameShape(shape("", []), shape("", []))).toBe(true);
  });
});
