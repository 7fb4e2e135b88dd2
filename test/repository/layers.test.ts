import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readSources } from "./source-graph.ts";

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
  // Touches are pure too: windows, summaries and the index read the effects of tool calls.
  touch: 0.5,
  store: 1,
  provider: 1,
  process: 1,
  log: 2,
  worktree: 2,
  view: 3,
  window: 3,
  memory: 3,
  monitor: 3,
  team: 3,
  compact: 4,
  task: 5,
  session: 6,
  "kernel.ts": 7,
  "open-kernel.ts": 8,
  "log-entry.ts": 8.5,
  "memory-entry.ts": 8.5,
  "task-entry.ts": 8.5,
  "team-entry.ts": 8.5,
  "window-entry.ts": 8.5,
  "index.ts": 9,
  // The public faces: each re-exports the names of a face below that a page or an example needs.
  entries: 13,
  formats: 10,
  conversation: 10,
  ai: 11,
  // Adapters for other libraries, one file each.
  peers: 11,
  // The HTTP API; the gateway opens its door to it and loads it at the first request.
  api: 11.5,
  gateway: 11.7,
  mcp: 11,
  hooks: 11,
  web: 11,
  // The program starts the servers, so it is above them.
  cli: 12,
  testing: 10,
};

/**
 * The folders inside large layers, from bottom to top; a folder may import from lower rows and from its own layer's
 * files.
 */
const ROOMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  window: [
    ["extract", "models", "money", "paging"],
    ["passes", "replay", "shrink", "tokens", "usage"],
    ["limits", "policies"],
    ["live"],
  ],
  memory: [["text", "vectors"], ["files", "memories", "rank"], ["embed", "retrieval"], ["index"], ["hits"]],
  formats: [
    ["port"],
    ["reading", "writing"],
    ["content", "importing"],
    ["copies", "copilot-cli", "gemini-cli", "markdown", "wire"],
    ["ai-sdk", "claude-code", "cline", "codex", "opencode", "pi", "swe-agent"],
    ["cline-sdk", "openclaw", "roo"],
    ["agents", "continuing"],
  ],
  api: [["core"], ["schemas", "jobs"], ["events", "spending"], ["sample"], ["routes"]],
  gateway: [
    ["budget", "config", "identity", "loops"],
    ["observe"],
    ["pages"],
    ["door"],
    ["redact", "request"],
    ["outgoing"],
    ["thread"],
    ["lookup"],
    ["upstream"],
    ["call"],
    ["cache"],
    ["exchange"],
    ["recall"],
    ["reply"],
    ["passthrough"],
    ["begin"],
    ["reception"],
  ],
};

/** The contract of a format names the classes that read files, which report the contract's problems. */
const MUTUAL = ["formats/port", "formats/reading"];

/** Layers that others import through these files only. */
const FACES: Readonly<Record<string, readonly string[]>> = {
  // The API fits messages of any format without loading the AI SDK's adapters.
  ai: ["ai/index.ts", "ai/fit-foreign-messages.ts"],
  // The gateway's pages share its jobs and its form of errors without loading the routes.
  api: ["api/index.ts", "api/jobs/index.ts"],
  formats: ["formats/index.ts"],
  // The program reads the configuration and the ids of people without loading the gateway, and makes a token and finds
  // its store without any of them.
  gateway: [
    "gateway/index.ts",
    "gateway/config/index.ts",
    "gateway/config/access-token.ts",
    "gateway/config/config-files.ts",
    "gateway/identity/index.ts",
  ],
  // The program's way for hooks loads nothing but the place of the socket.
  hooks: ["hooks/index.ts", "hooks/hook-place.ts"],
  mcp: ["mcp/index.ts"],
  testing: ["testing/index.ts"],
};

/** Implementations of ports, which only open-kernel and their own files may import. */
const IMPLEMENTATIONS = ["store/sqlite", "store/postgres", "provider/ai-sdk"];
/** The entry that exports the provider on the AI SDK, and adapters that parse usage and errors like it. */
const ADAPTERS = ["ai/index.ts", "ai/model-call.ts", "memory/embed/ai-sdk-embedder.ts"];

/** The faces of the kernel, through which the layers above see those below, apart from `base` and `model`. */
const KERNEL_FACES = [
  "index.ts",
  "log-entry.ts",
  "memory-entry.ts",
  "task-entry.ts",
  "team-entry.ts",
  "window-entry.ts",
];
const ABOVE_ENTRIES = ["formats", "conversation", "ai", "peers", "api", "gateway", "mcp", "hooks", "cli"];
/** Not public: both keep a model's text from posing as ours. */
const SHARED_INSIDE = ["memory/text/sanitize-text.ts"];

const sources = readSources("src");
const files = sources.map(({ path }) => toInner(path));
const imports = sources.flatMap((source) =>
  source.imports.map(({ from, to }) => ({ from: toInner(from), to: toInner(to) })),
);

function toInner(path: string): string {
  return relative("src", path);
}

const layerOf = (path: string) => path.split("/")[0] as string;
/** The folder directly inside a layer; undefined for files of the layer itself. */
const roomOf = (path: string) => path.split("/").slice(1, -1)[0];
const isMutual = (...paths: readonly string[]) => paths.every((path) => MUTUAL.includes(dirname(path)));
const isWithin = (folder: string, other: string) => `${folder}/`.startsWith(`${other}/`);
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
      const isOpening = from === "open-kernel.ts" || layerOf(from) === "entries";
      const isOwn = implementationOf(from) === implementation || isOpening;
      const isAdapter = implementation === "provider/ai-sdk" && ADAPTERS.includes(from);
      return implementation && !isOwn && !isAdapter;
    });
    expect(naming).toEqual([]);
  });

  test("layers above the kernel import it through its faces", () => {
    const inside = imports.filter(({ from, to }) => {
      const isBelow = (HEIGHT[layerOf(to)] ?? 99) < 9 && !["base", "model", "wire"].includes(layerOf(to));
      const isNamed = ADAPTERS.includes(from) || SHARED_INSIDE.includes(to);
      return ABOVE_ENTRIES.includes(layerOf(from)) && isBelow && !KERNEL_FACES.includes(to) && !isNamed;
    });
    expect(inside).toEqual([]);
  });

  test("every folder of a large layer has its row, and imports only from lower ones", () => {
    const heightOf = (path: string) =>
      ROOMS[layerOf(path)]?.findIndex((row) => row.includes(roomOf(path) ?? ""));
    const inside = files.filter((path) => ROOMS[layerOf(path)] && roomOf(path) !== undefined);
    const missing = inside.filter((path) => heightOf(path) === -1);
    expect([...new Set(missing.map((path) => `${layerOf(path)}/${roomOf(path)}`))]).toEqual([]);
    const rising = imports.filter(({ from, to }) => {
      if (isMutual(from, to)) return false;
      if (layerOf(from) !== layerOf(to) || !roomOf(from) || !roomOf(to) || roomOf(from) === roomOf(to))
        return false;
      return (heightOf(to) ?? -1) >= (heightOf(from) ?? 99);
    });
    expect(rising).toEqual([]);
  });

  test("no row names a folder that does not exist", () => {
    const rooms = Object.entries(ROOMS).flatMap(([layer, rows]) =>
      rows.flat().map((room) => `${layer}/${room}`),
    );
    expect(rooms.filter((room) => !existsSync(join(src, room)))).toEqual([]);
  });

  test("no two folders import each other, by whatever way round, except a folder and one inside it", () => {
    const crossing = imports
      .filter(({ from, to }) => !isMutual(from, to))
      .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }))
      .filter(({ from, to }) => !isWithin(from, to) && !isWithin(to, from));
    const folders = [...new Set(files.map((path) => dirname(path)))];
    expect(findCycle(folders, crossing)).toEqual([]);
  });

  test("a layer with a face is imported through it", () => {
    const around = imports.filter(({ from, to }) => {
      const face = FACES[layerOf(to)];
      return face && layerOf(from) !== layerOf(to) && !face.includes(to);
    });
    expect(around).toEqual([]);
  });

  test("no two files import each other, by whatever way round", () => {
    expect(findCycle(files, imports)).toEqual([]);
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

/** A way from a node back to itself; empty if there is none. */
function findCycle(
  nodes: readonly string[],
  edges: readonly { readonly from: string; readonly to: string }[],
): readonly string[] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const visit = (node: string, way: readonly string[]): readonly string[] => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const { to } of next.get(node) ?? []) {
      const cycle = visit(to, [...way, node]);
      if (cycle.length > 0) return cycle;
    }
    done.add(node);
    return [];
  };
  for (const node of nodes) {
    const cycle = visit(node, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
