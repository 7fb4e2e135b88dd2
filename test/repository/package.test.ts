import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";

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
  test("the package exports only files that the build makes", () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target as object),
    );
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  test("the package has only the run-time dependencies that were decided on", () => {
    expect(Object.keys(manifest.dependencies)).toEqual(["@pydantic/genai-prices", "zod"]);
  });

  test("the package is built for its oldest Node, which has no `using`", () => {
    const files = readdirSync(join(root, "dist"), { recursive: true }).map(String);
    const using = files.filter(
      (file) =>
        file.endsWith(".js") &&
        /^\s*(?:await )?using \w+ = /m.test(readFileSync(join(root, "dist", file), "utf8")),
    );
    expect(manifest.engines.node).toBe(">=22.13");
    expect(using).toEqual([]);
  });

  proofTest(
    "the package is small and complete, and npm corrects nothing when it packs and publishes it",
    () => {
      const options = [
        "--dry-run",
        "--json",
        "--ignore-scripts",
        "--registry",
        "http://127.0.0.1:9",
        "--fetch-retries",
        "0",
      ];
      const [packed] = JSON.parse(execFileSync("npm", ["pack", ...options], { cwd: root, encoding: "utf8" }));
      const paths: readonly string[] = packed.files.map(({ path }: { path: string }) => path);
      const wanted = [
        "dist/cli/main.js",
        "dist/index.js",
        "docs/cli.md",
        "models/embedder/static.bin",
        "LICENSE",
        "README.md",
      ];
      expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
      expect(
        paths.filter(
          (path) =>
            !/^(dist|docs|models|skills|plugins)\/|^[A-Z]+(\.md)?$|^(package|server)\.json$|^llms(-install)?\.\w+$/.test(
              path,
            ),
        ),
      ).toEqual([]);
      // The weights of the reader alone have 21 MB when packed.
      const limit = paths.includes("models/reader/reader.bin") ? 42_500_000 : 20_500_000;
      expect(packed.size).toBeLessThan(limit);
      const publish = spawnSync("npm", ["publish", "--access", "public", ...options], {
        cwd: root,
        encoding: "utf8",
      });
      expect(publish.status, publish.stderr).toBe(0);
      expect(publish.stderr).not.toMatch(/auto-corrected|errors corrected/);
      expect(publish.stdout).toContain(`"version": "${manifest.version}"`);
    },
  );

  proofTest("the package works by its name and subpaths once it is installed", () => {
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
