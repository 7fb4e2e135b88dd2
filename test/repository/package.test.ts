import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

describe("the package", () => {
  test("exports only files that the build makes", () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target as object),
    );
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  test("has no dependency at run time", () => {
    expect(manifest.dependencies).toBeUndefined();
  });

  test("works where it is installed, by its name and subpaths", () => {
    const folder = testFolder();
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules", "longhaul"), "dir");
    writeFileSync(
      join(folder, "use.mjs"),
      `import { openKernel } from "longhaul";
       import { openSqliteStore } from "longhaul/sqlite";
       import { storeSuite } from "longhaul/testing";
       const kernel = await openKernel({ path: "./store" });
       const session = await kernel.session("s");
       await session.append({ role: "user", text: "hello" });
       for (const { run } of storeSuite(() => openSqliteStore({ path: ":memory:" }))) await run();
       console.log((await session.page()).entries[0].message.parts[0].text);
       await kernel.close();`,
    );
    expect(execFileSync(process.execPath, ["use.mjs"], { cwd: folder, encoding: "utf8" }).trim()).toBe(
      "hello",
    );
  });
});
