import { mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWithin, joinInside } from "../../../src/model/base/join-inside.ts";
import { isLonghaulError } from "../../../src/model/errors.ts";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const HOSTILE = [
  ...["", ".", "..", "...", "../a", "a/../..", "/etc/passwd", "a//b", "..\\a", "a\\b", "\\\\server\\share"],
  ...["C:", "c:\\a", "C:/a", "a\u0000b", "a\nb", "NUL", "aux.txt", "com1.jsonl", "a.", "a ", "x".repeat(300)],
];

describe("joinInside", () => {
  test.each(HOSTILE)("joinInside refuses the name %j", async (name) => {
    await expect(joinInside(testFolder(), name)).rejects.toMatchObject({ code: "PATH_REFUSED" });
  });

  test("joinInside joins plain names below a folder that does not exist yet", async () => {
    const root = join(testFolder(), "new");
    expect(await joinInside(root, "a b/ü (1).jsonl")).toBe(join(root, "a b", "ü (1).jsonl"));
  });

  test("joinInside refuses a folder or file that a link leads outside, and allows a link to the root itself", async () => {
    const [root, other] = [testFolder(), testFolder()];
    symlinkSync(other, join(root, "out"));
    symlinkSync(join(other, "missing"), join(root, "dangling"));
    symlinkSync(root, join(other, "in"));
    for (const name of ["out/a", "out", "dangling", "dangling/a"])
      await expect(joinInside(root, name), name).rejects.toMatchObject({ code: "PATH_REFUSED" });
    expect(await joinInside(join(other, "in"), "a")).toBe(join(other, "in", "a"));
  });

  sizedTest("joinInside never leaves its root, whatever the name is", async () => {
    const root = join(testFolder(), "root");
    mkdirSync(join(root, "a"), { recursive: true });
    const piece = fc.oneof(
      fc.constantFrom("..", ".", "\\", "/", "a", "C:", "\u0000", "~", "%2e%2e", "．．", "‥", "nul", " "),
      fc.string({ maxLength: 6, unit: "binary" }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 8 }),
        fc.constantFrom("", "/", "\\"),
        async (pieces, mark) => {
          const name = pieces.join(mark);
          const path = await joinInside(root, name).catch((error) => {
            if (!isLonghaulError(error, "PATH_REFUSED")) throw error;
          });
          if (path === undefined) return;
          expect(isWithin(path, root) && path !== root).toBe(true);
          expect(basename(path)).not.toMatch(/^\.*$|[\\/]/);
        },
      ),
      { numRuns: proofRounds(5_000) },
    );
  });
});

test("a path is inside another path only by whole names", () => {
  expect(isWithin("/a/b", "/a/b")).toBe(true);
  expect(isWithin("/a/b/c", "/a/b")).toBe(true);
  expect(isWithin("/a/bc", "/a/b")).toBe(false);
  expect(isWithin("/a", "/a/b")).toBe(false);
  expect(isWithin("/a", "/")).toBe(true);
});
