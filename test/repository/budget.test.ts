import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readPages } from "../support/docs/pages.ts";
import { proofTest } from "../support/proof.ts";
import { listEntries, listExports, readSources } from "./source-graph.ts";

/** A file with fewer lines and only one importer is usually a step of that importer. */
const SMALL_FILE_LINES = 40;

const sources = readSources("src");
const importers = Map.groupBy(
  sources.flatMap(({ imports }) => imports),
  ({ to }) => to,
);
const importedOnce = sources.filter(
  ({ path }) => new Set(importers.get(path)?.map(({ from }) => from)).size === 1,
);

/**
 * The size of the project, each figure with the most it may be. A figure may only fall: a new capability is paid for
 * by a simplification elsewhere, and raising a limit needs a page in docs/decisions.
 */
const FIGURES: readonly (readonly [figure: string, count: () => number, limit: number])[] = [
  ["lines of src", () => sources.reduce((sum, { text }) => sum + countLines(text), 0), 167_650],
  ["files of src", () => sources.length, 1_219],
  ["files with one importer, in per mille", () => (1_000 * importedOnce.length) / sources.length, 250],
  ["small files with one importer", () => importedOnce.filter(({ text }) => isSmall(text)).length, 30],
  ["public names of all entries", () => countPublicNames(), 219],
  ["words of the docs, decisions apart", () => countDocWords(), 50_000],
];

test.each(FIGURES)("a figure of the source does not grow: %s", (_figure, count, limit) => {
  const figure = count();
  expect(figure).toBeGreaterThan(0);
  expect(figure).toBeLessThanOrEqual(limit);
});

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

function isSmall(text: string): boolean {
  return countLines(text) < SMALL_FILE_LINES;
}

/** Counts the names that a program can import from the package; a name of two entries counts twice. */
function countPublicNames(): number {
  return listEntries().reduce((sum, path) => sum + listPublicNames(path).length, 0);
}

function listPublicNames(path: string): readonly string[] {
  const source = sources.find((one) => one.path === path);
  if (!source) throw new Error(`package.json exports ${path}, which does not exist`);
  const passedOn = [...source.text.matchAll(/^export (?:type )?(\{[^}]*\}|\*)\s*from "([^"]+)"/gm)];
  return [
    ...listExports(source),
    ...passedOn.flatMap(([, clause = "", to = ""]) =>
      clause === "*"
        ? listPublicNames(new URL(to, `file:///${path}`).pathname.slice(1))
        : (clause.match(/[\w$]+(?=\s*[,}])/g) ?? []),
    ),
  ];
}

function countDocWords(): number {
  const pages = readPages().filter(({ path }) => !path.startsWith("docs/decisions/"));
  return pages.reduce((sum, { text }) => sum + (text.match(/\S+/g) ?? []).length, 0);
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The same for the gateway and the way of a request through it. */
const BUDGET = {
  gatewayLines: 27_414,
  gatewayFiles: 126,
  /** Smallest and largest number of files in a folder of the gateway. */
  gatewayFolderFiles: { least: 2, most: 12 },
  /** Functions of the gateway that return a value or a promise of it, or no promise where nothing has to be waited for. */
  gatewayMaybePromises: 3,
  /** Public members of a thread. */
  threadMembers: 15,
  /** Files and functions of `src` that one plain turn runs, as `bench/suites/gateway/way-of-a-turn.ts` counts them. */
  turnFiles: 118,
  turnFunctions: 584,
};

/** The only files directly in `src/server/gateway`. */
const TOP_FILES = ["exchange.ts", "gateway.ts", "index.ts"];

const MAYBE_PROMISE =
  /(?:\)|=>):? (?:[\w<>[\]." ]+ \| )*Promise<[^;{=]*> \| \w|(?:\)|=>):? (?:[\w<>[\]." ]+ \| )+Promise</;

describe("the gateway", () => {
  const files = readSources("src/server/gateway");
  const folders = Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf("/")));

  test("the gateway has no more lines and files than its budget", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.reduce((sum, { text }) => sum + countLines(text), 0)).toBeLessThanOrEqual(
      BUDGET.gatewayLines,
    );
    expect(files.length).toBeLessThanOrEqual(BUDGET.gatewayFiles);
  });

  test("the gateway has only its entry, its composition and its exchange outside its stages", () => {
    const top = (folders.get("src/server/gateway") ?? []).map(({ path }) =>
      path.slice("src/server/gateway/".length),
    );
    expect(top.toSorted()).toEqual(TOP_FILES);
    const { least, most } = BUDGET.gatewayFolderFiles;
    const odd = [...folders].filter(([, { length }]) => length < least || length > most);
    expect(odd.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([]);
  });

  test("the gateway's threads have few public members", () => {
    const { text = "" } = files.find(({ path }) => path.endsWith("thread/thread.ts")) ?? {};
    const body = /export class Thread \{([\s\S]*?)\n\}/.exec(text)?.[1] ?? "";
    const members = [...body.matchAll(/^ {2}(?:readonly |get |async )*(\w+)[(:? ]/gm)].map(
      ([, name]) => name,
    );
    expect(members).toContain("session");
    expect(members.filter((name) => name !== "constructor").length).toBeLessThanOrEqual(BUDGET.threadMembers);
  });

  test("the gateway's functions are almost all plainly async or plainly sync", () => {
    const found = files.flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line) =>
          MAYBE_PROMISE.test(line) && !line.includes("async ") ? [`${path}: ${line.trim()}`] : [],
        ),
    );
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(BUDGET.gatewayMaybePromises);
  });
});

proofTest("a plain turn of the gateway runs no more files and functions than its budget", () => {
  const script = join(root, "bench/suites/gateway/way-of-a-turn.ts");
  const { stdout, stderr } = spawnSync(process.execPath, [script, "--json"], { encoding: "utf8" });
  const counted = JSON.parse(stdout.trim().split("\n").at(-1) || `"${stderr}"`);
  expect(counted.files).toBeLessThanOrEqual(BUDGET.turnFiles);
  expect(counted.functions).toBeLessThanOrEqual(BUDGET.turnFunctions);
});
