import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** A folder in which `longhaul` resolves to this repository, as after an install. */
function projectWithLonghaul(): string {
  const folder = testFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "longhaul"), "dir");
  return folder;
}

describe("the package", () => {
  test("exports only files that the build makes", () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target as object),
    );
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  test("depends at run time on what was decided, and on nothing else", () => {
    expect(Object.keys(manifest.dependencies)).toEqual(["@pydantic/genai-prices", "zod"]);
  });

  test("the README's code runs as it stands", () => {
    const folder = projectWithLonghaul();
    const code = /```ts\n(.*?)```/s.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1] ?? "";
    writeFileSync(join(folder, "readme.mjs"), code);
    const output = execFileSync(process.execPath, ["readme.mjs"], { cwd: folder, encoding: "utf8" });
    expect(output.trim()).toBe("3 messages, 3 after the undo");
  });

  test("works where it is installed, by its name and subpaths", () => {
    const folder = projectWithLonghaul();
    writeFileSync(
      join(folder, "use.mjs"),
      `import { openKernel } from "longhaul";
       import { openSqliteStore } from "longhaul/sqlite";
       import { storeSuite } from "longhaul/testing";
       import { FORMATS, WRITERS } from "longhaul/formats";
       if (FORMATS.length < 15 || WRITERS.length < 10) throw new Error("formats are missing");
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
