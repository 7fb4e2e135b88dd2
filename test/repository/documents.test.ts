import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../src/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));

describe("the documents", () => {
  test("name every error code, and no other", () => {
    const documented = [...read("docs/errors.md").matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map(
      (match) => match[1],
    );
    expect(documented.sort()).toEqual([...ERROR_CODES].sort());
  });

  test("every error code is thrown somewhere", () => {
    const sources = tracked
      .filter((path) => path.startsWith("src/") && !path.endsWith("model/errors.ts"))
      .map(read)
      .join("\n");
    const errors = read("src/model/errors.ts").split("/** One documented failure. */")[1] ?? "";
    expect(ERROR_CODES.filter((code) => !`${sources}${errors}`.includes(`"${code}"`))).toEqual([]);
  });

  test("link only to what exists", () => {
    const broken = tracked
      .filter((path) => path.endsWith(".md") && !path.includes("node_modules"))
      .flatMap((path) =>
        [...read(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
          .map((match) => match[1] as string)
          .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(path), target)))
          .map((target) => `${path} → ${target}`),
      );
    expect(broken).toEqual([]);
  });

  test("the README is short and names the two commands", () => {
    const readme = read("README.md");
    expect(readme.split("\n").length).toBeLessThanOrEqual(150);
    expect(readme).toContain("npm start");
    expect(readme).toContain("npm test");
    expect(read(".ci/run")).toContain("npm test");
  });

  test("no file holds a path of a machine or the address of a registry", () => {
    const suspicious = tracked
      .filter(
        (path) => /\.(ts|mjs|json|md|sql|yml)$|\.ci\/run$/.test(path) && !path.endsWith("documents.test.ts"),
      )
      .filter((path) => /\/(work|home|root|Users)\/[a-z]|registry\.[a-z]+\.(org|com)/i.test(read(path)));
    expect(suspicious).toEqual([]);
  });
});
