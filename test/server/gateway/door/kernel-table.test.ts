import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KernelTable } from "../../../../src/server/gateway/door/principal.ts";
import { testFolder } from "../../../support/folder.ts";

test("each caller gets a text that is at least as new as its call, and callers share reads", async () => {
  const path = join(testFolder(), "tcp");
  const table = new KernelTable(path);
  const reads = new Set<Promise<string | undefined>>();
  const checks: Promise<void>[] = [];
  for (let version = 1; version <= 50; version++) {
    writeFileSync(`${path}.new`, String(version));
    renameSync(`${path}.new`, path);
    for (let caller = 0; caller < 20; caller++) {
      const reading = table.read();
      reads.add(reading);
      const check = async () => expect(Number(await reading)).toBeGreaterThanOrEqual(version);
      checks.push(check());
    }
    // Callers come while a read runs, between two, and in the moment one ends.
    if (version % 3 === 0) await new Promise((resolve) => setTimeout(resolve, version % 5));
    if (version % 7 === 0) await table.read();
  }
  await Promise.all(checks);
  expect(reads.size).toBeLessThan(100);
});

test("a missing kernel table reads as undefined until it exists", async () => {
  const path = join(testFolder(), "tcp");
  const table = new KernelTable(path);
  expect(await Promise.all([table.read(), table.read()])).toEqual([undefined, undefined]);
  writeFileSync(path, "header");
  expect(await table.read()).toBe("header");
});
