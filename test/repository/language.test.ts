import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A longer file usually holds two ideas. */
const MAX_LINES = 500;

interface Source {
  readonly path: string;
  readonly text: string;
}

/** TypeScript files of a folder, by their path from the root. */
function sourcesIn(folder: string): readonly Source[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map((path) => join(folder, String(path)))
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

const src = sourcesIn("src");
const all = [...src, ...["test", "bench", "clients", "demo", "examples", "training"].flatMap(sourcesIn)];

/** The comments of a source, one string each, without quoted code. */
function commentsOf({ text }: Source): readonly string[] {
  const blocks = text.match(/^[ \t]*\/\*\*[\s\S]*?\*\//gm) ?? [];
  const lines = text.match(/(?<=^|[\s;{}(,])\/\/ .*$/gm) ?? [];
  return [...blocks, ...lines].map((comment) =>
    comment
      .replace(/^\s*\/?\*+ ?|^\/\/ /gm, "")
      .replace(/`[^`]*`/g, "code")
      .replace(/\s+/g, " "),
  );
}

/** The places of a pattern in the comments of some sources. */
function findInComments(sources: readonly Source[], pattern: RegExp): readonly string[] {
  return sources.flatMap((source) =>
    commentsOf(source)
      .filter((comment) => pattern.test(comment))
      .map((comment) => `${source.path}: ${comment.slice(0, 120)}`),
  );
}

/** Top-level declarations of a source that it exports, by kind and name. */
function exportsOf({ text }: Source): readonly { readonly kind: string; readonly name: string }[] {
  const declaration =
    /^export (?:abstract )?(?:async )?(class|interface|type|function\*?|const|enum) (\w+)/gm;
  return [...text.matchAll(declaration)].map(([, kind = "", name = ""]) => ({ kind, name }));
}

describe("comments", () => {
  test('comments name a noun instead of a clause that begins with "what"', () => {
    const clause =
      /(?:^|[.;:,(] )what (?!if|time)|\b(?:of|than|with|from|to|for|by|at|on|in|is|and|or|after|before|all|only) what\b|\bwhat (?:was|is|has|had|of|it|they|he|came|comes|left|leaves|stands|stood|belongs|makes|made|must|may|can|cannot|could|should|would|will|does|did|goes|went|fits|remains|follows|follow|holds|one|somebody|nobody|others?)\b/i;
    expect(findInComments(all, clause)).toEqual([]);
  });

  test("comments use the words of the glossary", () => {
    const banned =
      /\banew\b|\bbesides\b|\bas it came\b|\b(?:summaris|recognis|normalis|colour|behaviour|cancelled)\w*/i;
    expect(findInComments(all, banned)).toEqual([]);
  });
});

/** Names in backticks that others define: the AI SDK and PostgreSQL. */
const FOREIGN_NAMES: ReadonlySet<string> = new Set(["generateText", "sslmode"]);

describe("names in comments", () => {
  test("each name of code that a comment quotes exists in the code", () => {
    const withoutComments = (text: string) =>
      text.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/(^|[\s;,{(])\/\/.*$/gm, "$1");
    const codes = new Map(src.map(({ path, text }) => [path, withoutComments(text)]));
    const words = new Set([...codes.values()].flatMap((code) => code.match(/[A-Za-z_$][\w$]*/g) ?? []));
    const missing = src.flatMap(({ path, text }) =>
      (text.match(/\/\*\*?[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm) ?? []).flatMap((comment) =>
        [...comment.matchAll(/`(#?)([a-z][A-Za-z]*)(?:\(\))?`/g)].flatMap(
          ([quoted, isPrivate, name = ""]) => {
            const isThere = isPrivate ? codes.get(path)?.includes(`#${name}`) : words.has(name);
            return isThere || FOREIGN_NAMES.has(name) ? [] : [`${path}: ${quoted}`];
          },
        ),
      ),
    );
    expect(missing).toEqual([]);
  });
});

describe("files", () => {
  test("files have at most 500 lines", () => {
    const long = src
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
      .filter(({ lines }) => lines > MAX_LINES);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });
});

describe("names", () => {
  test("names of limits begin with MAX or MIN", () => {
    const found = all.flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?const ((?:MOST|LEAST)_\w+)/gm)].map(([, name]) => `${path}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  test("each exported name is declared in one file", () => {
    const owners = Map.groupBy(
      src.flatMap((source) => exportsOf(source).map(({ name }) => ({ name, path: source.path }))),
      ({ name }) => name,
    );
    const shared = [...owners].filter(([, places]) => new Set(places.map(({ path }) => path)).size > 1);
    expect(shared.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(", ")}`)).toEqual(
      [],
    );
  });

  test("names of types are nouns", () => {
    const participle =
      /(?:^|[a-z])(?:Asked|Said|Told|Sent|Made|Kept|Taken|Heard|Given|Shown|Answered|Admitted|Conversing|Answering)$/;
    const found = src.flatMap((source) =>
      exportsOf(source)
        .filter(({ kind, name }) => /class|interface|type|enum/.test(kind) && participle.test(name))
        .map(({ name }) => `${source.path}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  test("a file name occurs once in a room, except for entries", () => {
    // The parts of these rooms have tools and routes of their own.
    const roomOf = (path: string) => /^src\/(?:(?:adapters|server)\/)?[^/]+/.exec(path)?.[0];
    const named = src
      .map(({ path }) => path)
      .filter((path) => basename(path) !== "index.ts" && !path.includes("/entries/"));
    const shared = [...Map.groupBy(named, (path) => `${roomOf(path)}/${basename(path)}`)]
      .filter(([, paths]) => paths.length > 1)
      .map(([, paths]) => paths.join(", "));
    expect(shared).toEqual([]);
  });
});
