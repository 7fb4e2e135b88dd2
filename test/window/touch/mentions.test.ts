import { expect, test } from "vitest";
import { mentionsOf } from "../../../src/window/touch/mentions.ts";
import { normalizePath } from "../../../src/window/touch/path.ts";

test("mentions are found by their sign and by the contents they bring", () => {
  const text =
    'See @src/a.ts, @/docs/b.md and @"my file.txt".\n<file_content path="./c.ts">\nx @d/e.ts\n</file_content>';
  const [shown, ...named] = mentionsOf(text);
  expect(shown?.path).toBe("c.ts");
  expect(text.slice(shown?.shown?.from, shown?.shown?.to)).toBe("\nx @d/e.ts\n");
  expect(named).toEqual([{ path: "src/a.ts" }, { path: "/docs/b.md" }, { path: "my file.txt" }]);
});

test("addresses, handles and broken blocks are no mentions", () => {
  expect(mentionsOf('mail a@b.com, ask @someone, <file_content path="x">never closed')).toEqual([]);
});

test.each([
  ["./a//b/./c.ts", "a/b/c.ts"],
  ["/a/../../b", "/b"],
  ["../a", "../a"],
  ["a\\b.ts", "a/b.ts"],
])("%s is the same as %s", (path, same) => {
  expect(normalizePath(path)).toBe(same);
});
