import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { buildCliPage, loadPageCommands } from "../../scripts/docs/cli-page.ts";
import { fillBlocks, PAGES_WITH_BLOCKS } from "../../scripts/docs/generated-blocks.ts";
import { listSettings } from "../../scripts/docs/settings-table.ts";
import { buildLlmsText, SECTIONS } from "../../scripts/docs/site-pages.ts";
import { isCommandGroup } from "../../src/cli/cli-command.ts";
import { ERROR_CODES } from "../../src/kernel/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));

describe("the documents", () => {
  test("the documents list exactly the existing error codes", () => {
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

  test("the documents link only to files and headings that exist", () => {
    const pages = tracked.filter((path) => path.endsWith(".md"));
    const headings = new Map(pages.map((path) => [path, listAnchors(read(path))]));
    const broken = pages.flatMap((path) =>
      [...read(path).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
        .filter(([, target = "", anchor]) => {
          const file = target === "" ? path : join(dirname(path), target);
          if (!existsSync(join(root, file))) return true;
          return anchor !== undefined && file.endsWith(".md") && !headings.get(file)?.has(anchor);
        })
        .map(([link]) => `${path} → ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test("the list of decisions explains each number that has no page", () => {
    const list = readFileSync(join(root, "docs/decisions/README.md"), "utf8");
    const [introduction = ""] = list.split("\n- [", 1);
    const explained = [...introduction.matchAll(/(\d{4})(?: to (\d{4}))?/g)].flatMap(
      ([, first, last = first]) =>
        Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
    );
    const pages = readdirSync(join(root, "docs/decisions")).flatMap((name) => name.match(/^\d{4}/) ?? []);
    const numbers = pages.map(Number);
    const gaps = Array.from({ length: Math.max(...numbers) }, (_, index) => index + 1).filter(
      (number) => !numbers.includes(number) && !explained.includes(number),
    );
    expect(gaps).toEqual([]);
  });

  test("the documents have at most 22 pages, not counting decisions", () => {
    const pages = tracked.filter((path) => /^docs\/(?!decisions\/).*\.md$/.test(path));
    expect(pages.length).toBeLessThanOrEqual(22);
  });

  test("all documents are in the side bar of the site, and in its list for language models", () => {
    const pages = tracked.filter((path) => /^docs\/(?!decisions\/).*\.md$/.test(path));
    const listed = SECTIONS.flatMap(([, names]) => names.map((name) => `docs/${name}`));
    expect(listed.toSorted()).toEqual([...pages, "docs/decisions/README.md"].toSorted());
    for (const line of buildLlmsText()
      .split("\n")
      .filter((one) => one.startsWith("- ")))
      expect(line).toMatch(/^- \[.+\]\(\S+\.md\): .{10,}[.:?]$/);
  });

  test("the documents match the program: commands, settings, installation", async () => {
    expect(read("docs/cli.md"), "npm run docs writes it").toBe(await buildCliPage());
    for (const page of PAGES_WITH_BLOCKS) expect(fillBlocks(read(page)), page).toBe(read(page));
  });

  test("every option of a command and every setting has a text", async () => {
    const commands = (await loadPageCommands()).flatMap(({ command, members }) =>
      isCommandGroup(command) ? members : [command],
    );
    const options = commands.flatMap(({ name, options }) =>
      Object.entries(options).map(([option, { help }]) => ({ name: `${name} --${option}`, text: help })),
    );
    const settings = listSettings().map(({ key, text }) => ({ name: key, text }));
    expect(options.length).toBeGreaterThan(100);
    expect(settings.length).toBeGreaterThan(60);
    const silent = [...options, ...settings].filter(({ text }) => (text ?? "").trim().length < 3);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test("the README is short and names the two commands", () => {
    const readme = read("README.md");
    expect(readme.split("\n").length).toBeLessThanOrEqual(91);
    expect(readme).toContain("npm start");
    expect(readme).toContain("npm test");
    expect(read(".ci/run")).toContain("npm test");
  });

  test("no file contains a path of a machine or the address of a registry", () => {
    const suspicious = tracked
      .filter(
        (path) => /\.(ts|mjs|json|md|sql|yml)$|\.ci\/run$/.test(path) && !path.endsWith("documents.test.ts"),
      )
      .filter((path) => /\/(work|home|root|Users)\/[a-z]|registry\.[a-z]+\.(org|com)/i.test(read(path)));
    expect(suspicious).toEqual([]);
  });
});

/** The anchors of a page: its headings in lowercase, without punctuation, with dashes for spaces. */
function listAnchors(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^(`{3,}).*?^\1/gms, "");
  return new Set(
    [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
