import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type IgnoreFile, isIgnored, parseIgnoreFile } from "../../../src/recall/files/ignore-rules.ts";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const NAMES = ["a", "b", "ab", "a.b", "foo", "foo.txt", "bar", "x y", "[z]", "#k", "!n", "-", "é"];
const PIECES = [
  "a",
  "b",
  "*",
  "**",
  "?",
  "/",
  "foo",
  ".txt",
  "[ab]",
  "[!a]",
  "[^b]",
  "[a-c]",
  "\\*",
  "\\",
  "[[:alpha:]]",
  " ",
  ".",
  "[z]",
  "-",
  "é",
];

const pattern = fc
  .tuple(
    fc.constantFrom("", "!", "/", "!/"),
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 }),
    fc.constantFrom("", "/", "/**", "/*"),
  )
  .map(([start, pieces, end]) => start + pieces.join("") + end);
const ignoreText = fc.array(pattern, { minLength: 1, maxLength: 5 }).map((lines) => lines.join("\n"));
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 });

/** Whether our rules ignore a file, checking its parent folders first, as a walk does. */
function isLeftOut(parts: readonly string[], files: readonly IgnoreFile[]): boolean {
  return parts.some((_, index) =>
    isIgnored(parts.slice(0, index + 1).join("/"), index < parts.length - 1, files),
  );
}

/** Ignore files of a folder and of its folder "a", and the paths of files in it. */
const repository = fc.record({
  outer: ignoreText,
  inner: ignoreText,
  paths: fc
    .array(path, { minLength: 1, maxLength: 12 })
    .map((paths) => paths.map((parts) => (parts.length === 1 && parts[0] === "a" ? ["a", "foo"] : parts))),
});

sizedTest("exactly the files that git ignores are left out", () => {
  const folder = testFolder();
  execFileSync("git", ["init", "-q", folder]);
  fc.assert(
    // One git process answers for many folders; rules hold only below the folder of their file.
    fc.property(fc.array(repository, { minLength: 1, maxLength: 25 }), (repositories) => {
      for (const [index, { outer, inner }] of repositories.entries()) {
        mkdirSync(join(folder, `${index}`, "a"), { recursive: true });
        writeFileSync(join(folder, `${index}`, ".gitignore"), outer);
        writeFileSync(join(folder, `${index}`, "a", ".gitignore"), inner);
      }
      const names = repositories.flatMap(({ paths }, index) =>
        paths.map((parts) => [index, ...parts].join("/")),
      );
      const { stdout } = spawnSync("git", ["-C", folder, "check-ignore", "--no-index", "-z", "--stdin"], {
        input: names.join("\0"),
        encoding: "utf8",
      });
      const left = new Set(stdout.split("\0"));
      for (const [index, { outer, inner, paths }] of repositories.entries()) {
        const files = [
          { folder: "", rules: parseIgnoreFile(outer) },
          { folder: "a", rules: parseIgnoreFile(inner) },
        ];
        for (const parts of paths) {
          const isLeft = left.has([index, ...parts].join("/"));
          expect([outer, inner, parts, isLeftOut(parts, files)]).toEqual([outer, inner, parts, isLeft]);
        }
      }
    }),
    { numRuns: proofRounds(20, 2) },
  );
});

test("a rule for folders spares a file of the same name, and a later rule can take back an earlier one", () => {
  const files = [{ folder: "", rules: parseIgnoreFile("build/\n*.log\n!keep.log\r\n# not a rule\n\n") }];
  expect(isIgnored("build", true, files)).toBe(true);
  expect(isIgnored("build", false, files)).toBe(false);
  expect(isIgnored(join("deep", "x.log"), false, files)).toBe(true);
  expect(isIgnored("keep.log", false, files)).toBe(false);
});

test.each([
  ["foo**/*", "foo", true],
  ["a**/b", "a/x/b", true],
  ["a**/b", "ab", true],
  ["[!a]", "é", false],
  ["?", "é", false],
  ["\uFEFFa", "a", true],
])(
  "%j decides about %s as git does: stars after a literal beginning, bytes, a byte order mark",
  (line, name, expected) => {
    const folder = testFolder();
    execFileSync("git", ["init", "-q", folder]);
    writeFileSync(join(folder, ".gitignore"), line);
    const git = spawnSync("git", ["-C", folder, "check-ignore", "--no-index", "-z", "--stdin"], {
      input: name,
    });
    expect(git.status === 0).toBe(expected);
    expect(isLeftOut(name.split("/"), [{ folder: "", rules: parseIgnoreFile(line) }])).toBe(expected);
  },
);
