import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import { findTouches } from "../../../src/window/effects/find-touches.ts";
import { listChanges, listReplacedTexts } from "../../../src/window/effects/list-changes.ts";

const call = (name: string, input: Json) => ({ type: "tool-call", callId: "1", name, input }) as const;

describe("findTouches", () => {
  test.each<[string, string, Json, object | undefined]>([
    ["Claude Code", "Read", { file_path: "/a//b.ts" }, { kind: "read", path: "/a/b.ts" }],
    [
      "Claude Code",
      "Read",
      { file_path: "/a/b.ts", offset: 10, limit: 5 },
      { kind: "read", path: "/a/b.ts", range: { from: 10, to: 14 } },
    ],
    ["Claude Code", "Edit", { file_path: "b", old_string: "", new_string: "" }, { kind: "edit", path: "b" }],
    ["Claude Code", "MultiEdit", { file_path: "b", edits: [] }, { kind: "edit", path: "b" }],
    ["Claude Code", "Write", { file_path: "b", content: "x" }, { kind: "write", path: "b" }],
    ["Claude Code", "NotebookEdit", { notebook_path: "b.ipynb" }, { kind: "edit", path: "b.ipynb" }],
    ["Claude Code", "Bash", { command: "npm test" }, { kind: "run", command: "npm test" }],
    ["Claude Code", "Grep", { pattern: "x", path: "src" }, undefined],
    ["Cline", "read_file", { path: "./a.ts" }, { kind: "read", path: "a.ts" }],
    ["Cline", "write_to_file", { absolutePath: "/a.ts", content: "" }, { kind: "write", path: "/a.ts" }],
    ["Cline", "replace_in_file", { path: "a.ts", diff: "" }, { kind: "edit", path: "a.ts" }],
    ["Roo", "apply_diff", { path: "a.ts", diff: "" }, { kind: "edit", path: "a.ts" }],
    ["Roo", "execute_command", { command: "cat a.ts", cwd: "/x" }, { kind: "read", path: "/x/a.ts" }],
    ["Codex", "shell", { command: ["bash", "-lc", "cat a.ts"] }, { kind: "read", path: "a.ts" }],
    ["Codex", "shell", { command: ["cat", "a b.ts"] }, { kind: "read", path: "a b.ts" }],
    [
      "Codex",
      "exec_command",
      { cmd: "nl -ba src/a.ts | sed -n '10,20p'", workdir: "/r" },
      { kind: "read", path: "/r/src/a.ts", range: { from: 10, to: 20 } },
    ],
    ["Codex", "apply_patch", "*** Begin Patch\n*** Add File: n.ts\n+x", { kind: "write", path: "n.ts" }],
    [
      "opencode",
      "read",
      { filePath: "a", offset: 3 },
      { kind: "read", path: "a", range: { from: 3, to: Infinity } },
    ],
    ["opencode", "apply_patch", { patchText: "*** Update File: n.ts\n" }, { kind: "edit", path: "n.ts" }],
    ["pi", "edit", { path: "a", oldText: "", newText: "" }, { kind: "edit", path: "a" }],
    ["Gemini", "replace", { file_path: "a" }, { kind: "edit", path: "a" }],
    ["Gemini", "run_shell_command", { command: "ls" }, { kind: "run", command: "ls" }],
    [
      "Copilot",
      "view",
      { path: "/a", view_range: [5, -1] },
      { kind: "read", path: "/a", range: { from: 5, to: Infinity } },
    ],
    ["Copilot", "str_replace_editor", { command: "create", path: "/a" }, { kind: "write", path: "/a" }],
    ["Copilot", "str_replace_editor", { command: "view", path: "/a" }, { kind: "read", path: "/a" }],
    [
      "SWE-agent",
      "open",
      { command: "open src/V.java 135" },
      { kind: "read", path: "src/V.java", range: { from: 135, to: 234 } },
    ],
    ["SWE-agent", "edit", { command: "edit 1:2\nx\nend_of_edit" }, { kind: "edit" }],
    // A file that exists stays as it is, so earlier reads of it are still needed.
    ["SWE-agent", "create", { command: "create a.py" }, { kind: "edit", path: "a.py" }],
    ["SWE-agent", "cat", { command: "cat a.py" }, { kind: "read", path: "a.py" }],
    ["an MCP server", "mcp__files__read_file", { path: "a" }, { kind: "read", path: "a" }],
    ["nobody", "Read", null, undefined],
    ["nobody", "constructor", { __proto__: "x" }, undefined],
  ])("findTouches knows the tools of %s: %s %j", (_agent, name, input, touch) => {
    expect(findTouches(call(name, input))).toEqual(touch === undefined ? [] : [touch]);
  });
});

describe("findTouches with several files in one call", () => {
  test("findTouches returns all files that Roo reads in one call, with their lines", () => {
    const files = [{ path: "a", line_ranges: ["1-5", "9-12"] }, { path: "./b" }];
    expect(findTouches(call("read_file", { files }))).toEqual([
      { kind: "read", path: "a", range: { from: 1, to: 5 } },
      { kind: "read", path: "a", range: { from: 9, to: 12 } },
      { kind: "read", path: "b" },
    ]);
    expect(findTouches(call("read_file", { args: { file: [{ path: "a" }, { path: "b" }] } }))).toHaveLength(
      2,
    );
    expect(findTouches(call("read_file", { args: { file: { path: "a" } } }))).toHaveLength(1);
  });

  test("findTouches returns all files that a patch changes", () => {
    const patch = "*** Begin Patch\n*** Update File: a\n*** Move to: c\n*** Delete File: b\n*** End Patch";
    expect(findTouches(call("apply_patch", { input: patch })).map(({ path }) => path)).toEqual([
      "a",
      "c",
      "b",
    ]);
  });
});

describe("the texts that a call replaces", () => {
  const patch = [
    "*** Begin Patch",
    "*** Update File: a.ts",
    "@@ class A",
    " first",
    "-second",
    "+other",
    "@@",
    "-third",
    "*** Add File: b.ts",
    "+new",
    "*** End Patch",
  ].join("\n");

  test.each<[string, string, Json, readonly string[]]>([
    ["Claude Code", "Edit", { file_path: "a", old_string: "one\ntwo", new_string: "three" }, ["one\ntwo"]],
    [
      "Claude Code",
      "MultiEdit",
      { file_path: "a", edits: [{ old_string: "one", new_string: "1" }, { old_string: "two" }] },
      ["one", "two"],
    ],
    ["Claude Code", "Write", { file_path: "a", content: "whole" }, []],
    ["opencode", "edit", { filePath: "a", oldString: "one", newString: "two" }, ["one"]],
    ["an editor", "str_replace_editor", { command: "str_replace", path: "a", old_str: "one" }, ["one"]],
    ["Codex", "apply_patch", patch, ["first\nsecond", "third"]],
    ["Codex", "shell", { command: ["apply_patch", patch] }, ["first\nsecond", "third"]],
    ["Codex", "shell", { command: ["bash", "-lc", "ls"] }, []],
  ])("the replaced texts are found in a call of %s, with %s", (_, name, input, texts) => {
    expect(listReplacedTexts(call(name, input))).toEqual(texts);
  });

  test("the replaced texts come with the new texts and their file", () => {
    expect(listChanges(call("apply_patch", patch))).toEqual([
      { path: "a.ts", before: "first\nsecond", after: "first\nother", isWhole: false },
      { path: "a.ts", before: "third", after: "", isWhole: false },
      { path: "b.ts", before: "", after: "new", isWhole: true },
    ]);
    const written = call("Write", { file_path: "a", content: "whole" });
    expect(listChanges(written)).toEqual([{ path: "a", before: "", after: "whole", isWhole: true }]);
  });
});
