import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

test("a number of rounds or cases that a proof raises is used only in a sized test", () => {
  const files = readdirSync(root, { recursive: true }).map(String);
  const texts = files
    .filter((path) => path.endsWith(".test.ts") && !path.startsWith("repository"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  expect(texts.length).toBeGreaterThan(300);
  const lost = texts.filter(
    ({ text }) => /\bproof(?:Rounds|Cases)\(/.test(text) && !/\bsizedTest\b/.test(text),
  );
  expect(lost.map(({ path }) => path)).toEqual([]);
});
