import { expect, test } from "vitest";
import { normalizePath } from "../../../src/window/effects/normalize-path.ts";
import { findShownFiles } from "../../../src/window/shown-contents.ts";

test("files are found by the blocks that show their contents, as read or as edited", () => {
  const text =
    'See @src/a.ts.\n<file_content path="./c.ts">\nx\n</file_content> <final_file_content path="d.ts">y</final_file_content>';
  const shown = findShownFiles(text);
  expect(shown.map(({ path }) => path)).toEqual(["c.ts", "d.ts"]);
  expect(shown.map(({ shown: { from, to } }) => text.slice(from, to))).toEqual(["\nx\n", "y"]);
});

test("a block that is never closed, or lies inside another block, does not count as a file", () => {
  expect(findShownFiles('<file_content path="x">never closed')).toEqual([]);
  const inside = '<file_content path="x">a <file_content path="y">b</file_content>';
  expect(findShownFiles(inside).map(({ path }) => path)).toEqual(["x"]);
});

test.each([
  ["./a//b/./c.ts", "a/b/c.ts"],
  ["/a/../../b", "/b"],
  ["../a", "../a"],
  ["a\\b.ts", "a/b.ts"],
])("the path %s is normalized to %s", (path, same) => {
  expect(normalizePath(path)).toBe(same);
});
