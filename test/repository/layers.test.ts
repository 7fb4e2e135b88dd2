import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const src = fileURLToPath(new URL("../../src/", import.meta.url));

/**
 * The layers from bottom to top; a file may import from its own layer and from lower ones. Equal
 * numbers are on the same level.
 */
const HEIGHT: Readonly<Record<string, number>> = {
  base: -1,
  model: 0,
  // Wires are pure: providers and windows may use them.
  wire: 0.5,
  store: 1,
  provider: 1,
  process: 1,
  log: 2,
  worktree: 2,
  view: 3,
  window: 3,
  memory: 3,
  monitor: 3,
  compact: 4,
  task: 5,
  session: 6,
  "kernel.ts": 7,
  "open-kernel.ts": 8,
  "index.ts": 9,
  "task-entry.ts": 9,
  "window-entry.ts": 9,
  formats: 10,
  conversation: 10,
  ai: 11,
  gateway: 11,
  mcp: 11,
  web: 11,
  // The program starts the servers, so it is above them.
  cli: 12,
  testing: 10,
};

/** Implementations of ports, which only open-kernel and their own files may import. */
const IMPLEMENTATIONS = ["store/sqlite", "provider/ai-sdk"];
/** The entry that exports the provider on the AI SDK, and adapters that parse usage and errors like it. */
const ADAPTERS = ["ai/index.ts", "ai/model-call.ts", "memory/embed/ai-sdk-embedder.ts"];

/** The public entries, through which the layers above them see those below, apart from `base` and `model`. */
const ENTRIES = ["index.ts", "task-entry.ts", "window-entry.ts"];
const ABOVE_ENTRIES = ["formats", "conversation", "ai", "gateway", "cli"];
/** Not public: both keep a model's text from posing as ours. */
const SHARED_INSIDE = ["memory/retrieval/sanitize-text.ts"];

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(src, { recursive: true })
  .map(String)
  .filter((path) => path.endsWith(".ts"));

const imports: readonly Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), "utf8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    (match) => match[1] as string,
  );
  return specifiers
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => ({ from, to: relative(src, join(src, dirname(from), specifier)) }));
});

const layerOf = (path: string) => path.split("/")[0] as string;
const implementationOf = (path: string) => IMPLEMENTATIONS.find((folder) => path.startsWith(`${folder}/`));

describe("the layers", () => {
  test("every file has its place in one", () => {
    expect(files.length).toBeGreaterThan(40);
    expect(files.map(layerOf).filter((layer) => HEIGHT[layer] === undefined)).toEqual([]);
  });

  test("every import names a file that exists", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(({ to }) => !existsSync(join(src, to)))).toEqual([]);
  });

  test("nothing is imported by a name that the oldest Node we promise does not have", () => {
    const sources = files.map((path) => ({ path, text: readFileSync(join(src, path), "utf8") }));
    const zstdByName = /import \{[^}]*zstd[^}]*\} from "node:zlib"/i;
    expect(sources.filter(({ text }) => zstdByName.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("no SQL numbers its parameters: node:sqlite before Node 22.20 takes those for names", () => {
    const sources = files.filter((path) => path.startsWith("store/sqlite/"));
    expect(sources.filter((path) => /[\s(=<>]\?[1-9]/.test(readFileSync(join(src, path), "utf8")))).toEqual(
      [],
    );
  });

  test("no arrow turns back", () => {
    const turning = imports.filter(
      ({ from, to }) => (HEIGHT[layerOf(to)] ?? 99) > (HEIGHT[layerOf(from)] ?? -2),
    );
    expect(turning).toEqual([]);
  });

  test("no arrow crosses between layers of the same height", () => {
    const crossing = imports.filter(
      ({ from, to }) => layerOf(from) !== layerOf(to) && HEIGHT[layerOf(from)] === HEIGHT[layerOf(to)],
    );
    expect(crossing).toEqual([]);
  });

  test("only what opens the kernel names implementations, and the AI SDK's adapters that of the AI SDK", () => {
    const naming = imports.filter(({ from, to }) => {
      const implementation = implementationOf(to);
      const isOwn = implementationOf(from) === implementation || from === "open-kernel.ts";
      const isAdapter = implementation === "provider/ai-sdk" && ADAPTERS.includes(from);
      return implementation && !isOwn && !isAdapter;
    });
    expect(naming).toEqual([]);
  });

  test("what stands on the public API sees it through its entries", () => {
    const inside = imports.filter(({ from, to }) => {
      const isBelow = (HEIGHT[layerOf(to)] ?? 99) < 9 && !["base", "model", "wire"].includes(layerOf(to));
      const isNamed = ADAPTERS.includes(from) || SHARED_INSIDE.includes(to);
      return ABOVE_ENTRIES.includes(layerOf(from)) && isBelow && !ENTRIES.includes(to) && !isNamed;
    });
    expect(inside).toEqual([]);
  });

  test("no two files import each other, by whatever way round", () => {
    const next = Map.groupBy(imports, ({ from }) => from);
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): string[] => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return [];
      for (const { to } of next.get(file) ?? []) {
        const cycle = visit(to, [...path, file]);
        if (cycle.length > 0) return cycle;
      }
      done.add(file);
      return [];
    };
    for (const file of files) expect(visit(file, [])).toEqual([]);
  });

  test("no two folders of the gateway import each other, by whatever way round", () => {
    const folderOf = (path: string) => path.split("/")[1] as string;
    const next = new Map<string, Set<string>>();
    for (const { from, to } of imports) {
      const isInside = [from, to].every((path) => path.startsWith("gateway/") && path.split("/").length > 2);
      if (!isInside || folderOf(from) === folderOf(to)) continue;
      next.set(folderOf(from), (next.get(folderOf(from)) ?? new Set()).add(folderOf(to)));
    }
    const reach = (folder: string) => {
      const seen = new Set<string>();
      const waiting = [folder];
      for (let one = waiting.pop(); one !== undefined; one = waiting.pop())
        for (const to of next.get(one) ?? []) if (!seen.has(to) && seen.add(to)) waiting.push(to);
      return seen;
    };
    expect(next.size).toBeGreaterThan(10);
    expect([...next.keys()].filter((folder) => reach(folder).has(folder))).toEqual([]);
  });
});
