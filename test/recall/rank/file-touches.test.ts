import { describe, expect, test } from "vitest";
import { countTouches, findRelativePath } from "../../../src/recall/rank/file-touches.ts";

const ROOT = "/repos/shop";
const FILES = ["src/basket.ts", "src/price.ts", "readme.md"].map((path) => ({
  path: `${ROOT}/${path}`,
  root: ROOT,
}));
const touch = (path: string, isEdit = false) => ({ path, isEdit });

describe("countTouches", () => {
  test("countTouches counts the other files touched and edited since", () => {
    const records = countTouches(FILES, [
      touch(`${ROOT}/src/price.ts`),
      touch("/repos/notes.md", true),
      touch(`${ROOT}/src/basket.ts`, true),
    ]);
    expect(records.get(1)).toMatchObject({ touchedSince: 0, editedSince: Number.POSITIVE_INFINITY });
    expect(records.get(0)).toMatchObject({ touchedSince: 2, editedSince: 1 });
    expect(records.get(2)).toBeUndefined();
  });

  test("countTouches recognizes a file in another checkout by its last path segments, at least folder and name", () => {
    const records = countTouches(FILES, [
      touch("/srv/worktrees/one/src/basket.ts"),
      touch("src/price.ts"),
      touch("/srv/other/readme.md"),
    ]);
    expect([...records.keys()].sort()).toEqual([0, 1]);
  });

  test("countTouches does not mistake a file in another folder of the same root", () => {
    expect(countTouches(FILES, [touch(`${ROOT}/packages/web/src/basket.ts`)]).size).toBe(0);
  });
});

test("findRelativePath removes the indexed folder from a path", () => {
  expect(findRelativePath({ path: "/a/b/c.ts", root: "/a" })).toBe("b/c.ts");
  expect(findRelativePath({ path: "/a/c.ts", root: "/a/c.ts" })).toBe("c.ts");
  expect(findRelativePath({ path: "b/c.ts" })).toBe("b/c.ts");
});
