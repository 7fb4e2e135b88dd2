import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { buildBundles, findProblems } = await import(
  new URL("../../scripts/plugins.mjs", import.meta.url).href
);

test("the bundles in plugins/ match their common description", () => {
  const bundles = buildBundles() as ReadonlyMap<string, string>;
  expect(findProblems(bundles)).toEqual([]);
  for (const [path, text] of bundles)
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"), path).toBe(text);
});
