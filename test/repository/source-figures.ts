import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { DocPage } from "../support/docs/pages.ts";
import { readPages } from "../support/docs/pages.ts";
import { listEntries, listExports, readSources, type SourceFile } from "./source-graph.ts";

/** The sources and pages that are measured. */
export interface Tree {
  readonly sources: readonly SourceFile[];
  /** The pages of the docs, decisions apart. */
  readonly pages: readonly DocPage[];
}

/** Reads the sources and pages of the repository. */
export function readTree(): Tree {
  return {
    sources: readSources("src"),
    pages: readPages().filter(({ path }) => !path.startsWith("docs/decisions/")),
  };
}

/** Returns the share of files that only one other file imports; such a file is often a step of its importer. */
export function shareOfOneImporterFiles({ sources }: Tree): number {
  const importers = Map.groupBy(
    sources.flatMap(({ imports }) => imports),
    ({ to }) => to,
  );
  const once = sources.filter(({ path }) => new Set(importers.get(path)?.map(({ from }) => from)).size === 1);
  return once.length / sources.length;
}

/** Counts the names that a program can import from the package; a name of two entries counts twice. */
export function countPublicNames({ sources }: Tree): number {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const list = (path: string): readonly string[] => {
    const source = byPath.get(path);
    if (!source) throw new Error(`package.json exports ${path}, which does not exist`);
    const passedOn = [...source.text.matchAll(/^export (?:type )?(\{[^}]*\}|\*)\s*from "([^"]+)"/gm)];
    return [
      ...listExports(source),
      ...passedOn.flatMap(([, clause = "", to = ""]) =>
        clause === "*"
          ? list(new URL(to, `file:///${path}`).pathname.slice(1))
          : (clause.match(/[\w$]+(?=\s*[,}])/g) ?? []),
      ),
    ];
  };
  return listEntries().reduce((sum, path) => sum + list(path).length, 0);
}

/** Returns the share of exported names that have a word in common with their file's name or its folder's. */
export function shareOfGuessableNames({ sources }: Tree): number {
  const guessable = sources
    .filter(({ path }) => !/\/(?:entries|faces)\/|\/index\.ts$/.test(path))
    .flatMap((source) => {
      const place = new Set(
        [basename(source.path, ".ts"), basename(dirname(source.path))].flatMap(splitWords),
      );
      return listExports(source).map((name) => splitWords(name).some((word) => place.has(word)));
    });
  return guessable.filter((isGuessable) => isGuessable).length / guessable.length;
}

/** The words of a name in camel case, capitals or with hyphens, each reduced to its stem. */
function splitWords(name: string): readonly string[] {
  const words = name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? [];
  return words.map((word) =>
    word
      .toLowerCase()
      .replace(/ies$/, "y")
      .replace(/(?:es|s|ed|ing|er)$/, "")
      .slice(0, 6),
  );
}

/** Matches a field that is written only if it has a value: `...(a && { a })`, `...(a ? { a } : {})` or `dropUndefined(...)`. */
const OPTIONAL_FIELD = /\bdropUndefined\(|\.\.\.\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?(?:&&|\?)\s*[{(]/g;

/** Counts the spellings of optional fields in each thousand lines. */
export function countOptionalFields(tree: Tree): number {
  const spelled = tree.sources.reduce((sum, { text }) => sum + (text.match(OPTIONAL_FIELD)?.length ?? 0), 0);
  return (1_000 * spelled) / countLines(tree);
}

/** Returns the average number of words on a page of the docs. */
export function countWordsOfPage(tree: Tree): number {
  return countWords(tree) / tree.pages.length;
}

function countLines({ sources }: Tree): number {
  return sources.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
}

function countWords({ pages }: Tree): number {
  return pages.reduce((sum, { text }) => sum + (text.match(/\S+/g) ?? []).length, 0);
}

// Run by hand when an edition is cut, this file prints the totals, which no test limits, and the ratios.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tree = readTree();
  const gateway = readSources("src/server/gateway");
  const figures = {
    "lines of src": countLines(tree),
    "files of src": tree.sources.length,
    "lines of the gateway": countLines({ ...tree, sources: gateway }),
    "files of the gateway": gateway.length,
    "words of the docs, decisions apart": countWords(tree),
    "share of files with one importer": shareOfOneImporterFiles(tree),
    "public names of all entries": countPublicNames(tree),
    "share of guessable names": shareOfGuessableNames(tree),
    "spellings of optional fields in a thousand lines": countOptionalFields(tree),
    "words of a page": countWordsOfPage(tree),
  };
  for (const [figure, value] of Object.entries(figures))
    console.log(`${figure}: ${Number(value.toFixed(3)).toLocaleString("en")}`);
}
