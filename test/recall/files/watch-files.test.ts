import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { IndexedFiles } from "../../../src/kernel/faces/memory.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";

function folderWith(text: string): string {
  const folder = testFolder();
  writeFileSync(join(folder, "a.md"), text);
  return folder;
}

describe("files that are watched", () => {
  test("watched files are indexed again after a change, until watching ends", async () => {
    const kernel = await testKernel();
    const folder = folderWith("the port is 7781\n");
    const seen: IndexedFiles[] = [];
    const watching = kernel.memory.watchFiles([folder], {
      quietMs: 10,
      onIndexed: (indexed) => seen.push(indexed),
    });
    await expect.poll(() => seen.length).toBe(1);
    writeFileSync(join(folder, "b.md"), "the host is alpha\n");
    await expect.poll(() => seen.at(-1)?.files).toBe(2);
    expect(kernel.counts().watcher).toEqual({ opened: 1, closed: 0 });
    await watching.close();
    await watching.close();
    expect(kernel.counts().watcher).toEqual({ opened: 1, closed: 1 });
    const before = seen.length;
    writeFileSync(join(folder, "c.md"), "more\n");
    await sleep(100);
    expect(seen).toHaveLength(before);
  });

  test("watched files are released with the kernel, which then refuses to watch", async () => {
    const kernel = await testKernel();
    const folders = [folderWith("one\n"), folderWith("two\n")];
    const troubles: unknown[] = [];
    const seen: unknown[] = [];
    const { memory } = kernel;
    const options = {
      quietMs: 0,
      onIndexed: (indexed: IndexedFiles) => seen.push(indexed),
      onError: (error: unknown) => troubles.push(error),
    };
    memory.watchFiles(folders, options);
    await kernel.close();
    expect(kernel.counts()).toMatchObject({
      watcher: { opened: 2, closed: 2 },
      memory: { opened: 1, closed: 1 },
    });
    const before = seen.length;
    for (const folder of folders) writeFileSync(join(folder, "c.md"), "more\n");
    await sleep(100);
    expect([seen.length, troubles]).toEqual([before, []]);
    expect(() => memory.watchFiles(folders, options)).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });

  test("a missing path cannot be watched, and no watcher stays open", async () => {
    const kernel = await testKernel();
    const folder = folderWith("one\n");
    const missing = join(folder, "missing");
    expect(() => kernel.memory.watchFiles([folder, missing])).toThrow(
      expect.objectContaining({ code: "SOURCE_UNREADABLE", details: { path: missing } }),
    );
    await expect.poll(() => kernel.counts().watcher).toEqual({ opened: 1, closed: 1 });
  });

  proofTest("watched files do not keep a process alive after its kernel was closed", async () => {
    const script = fileURLToPath(new URL("./watcher-child.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script, folderWith("one\n")], {
      timeout: 60_000,
    });
    expect(JSON.parse(stdout)).toEqual({ opened: 1, closed: 1 });
  });
});
