import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/docs/pages.ts";
import { proofTest } from "../support/proof.ts";
import {
  countOptionalFields,
  countPublicNames,
  countWordsOfPage,
  readTree,
  shareOfGuessableNames,
  shareOfOneImporterFiles,
  type Tree,
} from "./source-figures.ts";
import { readSources } from "./source-graph.ts";

/** The share by which a figure may be worse than today's, so that a correct contribution fits without looking at it. */
const HEADROOM = 0.02;

/** A figure of the source: `today` was measured when it was last set, and is moved only towards `goal`. */
interface Figure {
  readonly name: string;
  readonly count: (tree: Tree) => number;
  readonly today: number;
  readonly goal: number;
}

/**
 * The figures are ratios, or faces that people have to learn, because a total refuses whoever comes last. Totals are
 * printed by `node test/repository/source-figures.ts` when an edition is cut. Moving `today` away from `goal` needs a
 * page in docs/decisions.
 */
const FIGURES: readonly Figure[] = [
  { name: "share of files with one importer", count: shareOfOneImporterFiles, today: 0.24, goal: 0.2 },
  { name: "public names of all entries", count: countPublicNames, today: 219, goal: 200 },
  {
    name: "share of names that can be guessed from their file or folder",
    count: shareOfGuessableNames,
    today: 0.678,
    goal: 0.8,
  },
  {
    name: "spellings of optional fields in a thousand lines",
    count: countOptionalFields,
    today: 6.09,
    goal: 3,
  },
  { name: "words of a page of the docs", count: countWordsOfPage, today: 2_130, goal: 2_000 },
];

const tree = readTree();

test.each(FIGURES)("the source keeps its figure with some headroom: $name", ({ count, today, goal }) => {
  expectNoWorse(count(tree), today, goal);
});

test.each(FIGURES)("a reader for a new agent fits into the figure: $name", ({ count, today, goal }) => {
  expectNoWorse(count(contributeFormat(tree)), today, goal);
});

/** Checks a figure against today's with its headroom; the goal says which direction is better. */
function expectNoWorse(figure: number, today: number, goal: number): void {
  expect(figure).toBeGreaterThan(0);
  if (goal < today) expect(figure).toBeLessThanOrEqual(today * (1 + HEADROOM));
  else expect(figure).toBeGreaterThanOrEqual(today * (1 - HEADROOM));
}

/** Adds to the tree the example of a contributed format, its line in the list of formats and its row in the docs. */
function contributeFormat({ sources, pages }: Tree): Tree {
  const path = "src/histories/agents/scribe-format.ts";
  const example = readSources("test/histories/contribution", /-format\.ts$/)[0];
  if (!example) throw new Error("test/histories/contribution holds no format");
  const moved = { ...example, path, imports: example.imports.map((one) => ({ ...one, from: path })) };
  const row =
    "| `scribe` | Scribe | `~/.scribe/talks` | JSONL | everything | nothing | kept until you delete them |  |\n";
  return {
    sources: [
      ...sources.map((source) =>
        source.path === "src/histories/formats.ts"
          ? {
              ...source,
              imports: [...source.imports, { from: source.path, to: path, names: ["scribeFormat"] }],
            }
          : source,
      ),
      moved,
    ],
    pages: pages.map((page) => (page.path === "docs/formats.md" ? { ...page, text: page.text + row } : page)),
  };
}

/** The shape of the gateway and the way of a request through it. */
const SHAPE = {
  /** Smallest and largest number of files in a folder of the gateway. */
  gatewayFolderFiles: { least: 2, most: 14 },
  /** Functions of the gateway that return a value or a promise of it, or no promise where nothing has to be waited for. */
  gatewayMaybePromises: 3,
  /** Public members of a thread. */
  threadMembers: 15,
  /** Files and functions of `src` that one plain turn runs, as `bench/suites/gateway/way-of-a-turn.ts` counts them. */
  turnFiles: 129,
  turnFunctions: 615,
};

/** The only files directly in `src/server/gateway`. */
const TOP_FILES = ["exchange.ts", "gateway.ts", "index.ts"];

const MAYBE_PROMISE =
  /(?:\)|=>):? (?:[\w<>[\]." ]+ \| )*Promise<[^;{=]*> \| \w|(?:\)|=>):? (?:[\w<>[\]." ]+ \| )+Promise</;

describe("the gateway", () => {
  const files = readSources("src/server/gateway");
  const folders = Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf("/")));

  test("the gateway has only its entry, its composition and its exchange outside its stages", () => {
    const top = (folders.get("src/server/gateway") ?? []).map(({ path }) =>
      path.slice("src/server/gateway/".length),
    );
    expect(top.toSorted()).toEqual(TOP_FILES);
    const { least, most } = SHAPE.gatewayFolderFiles;
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
    expect(members.filter((name) => name !== "constructor").length).toBeLessThanOrEqual(SHAPE.threadMembers);
  });

  test("the gateway's functions are almost all plainly async or plainly sync", () => {
    const found = files.flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line) =>
          MAYBE_PROMISE.test(line) && !line.includes("async ") ? [`${path}: ${line.trim()}`] : [],
        ),
    );
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(SHAPE.gatewayMaybePromises);
  });
});

proofTest("a plain turn of the gateway runs about as few files and functions as it did", () => {
  const script = join(root, "bench/suites/gateway/way-of-a-turn.ts");
  const { stdout, stderr } = spawnSync(process.execPath, [script, "--json"], { encoding: "utf8" });
  const counted = JSON.parse(stdout.trim().split("\n").at(-1) || `"${stderr}"`);
  expect(counted.files).toBeLessThanOrEqual(SHAPE.turnFiles * (1 + HEADROOM));
  expect(counted.functions).toBeLessThanOrEqual(SHAPE.turnFunctions * (1 + HEADROOM));
});
