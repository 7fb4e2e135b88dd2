import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readSources } from "./source-graph.ts";

const src = fileURLToPath(new URL("../../src/", import.meta.url));

/** The rooms of `src` from bottom to top, each with the lower rooms that it imports. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  model: [],
  wire: ["model"],
  log: ["model"],
  stores: ["model", "wire", "log"],
  window: ["model", "wire", "log"],
  recall: ["model", "wire", "log", "window"],
  tasks: ["model", "log", "window"],
  kernel: ["model", "wire", "log", "stores", "window", "recall", "tasks"],
  histories: ["model", "wire", "kernel"],
  adapters: ["model", "wire", "recall", "kernel", "histories"],
  server: ["model", "wire", "kernel", "histories", "adapters"],
  cli: ["model", "kernel", "histories", "adapters", "server"],
};

/**
 * The folders inside large folders, from bottom to top. A folder imports only from lower rows of its list, and any
 * folder from the files directly in the folder around it.
 */
const ROWS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  model: [["base", "secrets"]],
  log: [["store"], ["erasing", "migration", "view"]],
  // Effects of tool calls are pure: windows, summaries and the index read them.
  window: [
    ["effects"],
    ["extract", "models", "money", "paging"],
    ["passes", "replay", "shrink", "tokens", "usage"],
    ["limits", "policies"],
    ["session"],
    ["compact"],
  ],
  recall: [["text", "vectors"], ["files", "memories", "rank"], ["embed", "retrieval"], ["index"], ["hits"]],
  tasks: [["process"], ["worktree"], ["channels"]],
  kernel: [["monitor", "team"], ["session"], ["faces"], ["calls"], ["usage"], ["entries"]],
  histories: [
    ["reading"],
    ["port"],
    ["writing"],
    ["content", "importing"],
    ["copilot-cli", "deduplication", "gemini-cli", "markdown", "wire"],
    ["ai-sdk", "claude-code", "cline", "codex", "opencode", "pi", "swe-agent"],
    ["cline-sdk", "openclaw", "roo"],
    ["agents", "continuing"],
    ["entries"],
  ],
  adapters: [["ai", "hooks", "mcp"], ["entries"]],
  // The gateway opens its door to the API and loads it at the first request.
  server: [["cache", "erasing"], ["api"], ["gateway"], ["entries"]],
  "server/api": [["core"], ["jobs", "schemas"], ["events", "spending"], ["sample"], ["routes"]],
  "server/gateway": [
    ["config", "identity", "limits"],
    ["observe"],
    ["pages"],
    ["door"],
    ["request"],
    ["outgoing"],
    ["thread"],
    ["lookup"],
    ["upstream"],
    ["call"],
    ["cache"],
    ["exchange"],
    ["recall"],
    ["reply"],
    ["reception"],
  ],
};

/** Folders that others import through these files only. */
const FACES: Readonly<Record<string, readonly string[]>> = {
  // The API fits messages of any format without loading the AI SDK's adapters.
  "adapters/ai": ["adapters/ai/index.ts", "adapters/ai/fit-foreign-messages.ts"],
  // The gateway's pages share its jobs and its form of errors without loading the routes.
  "server/api": ["server/api/index.ts", "server/api/jobs/index.ts"],
  histories: ["histories/index.ts"],
  // The program reads the configuration and the ids of people without loading the gateway, and makes a token and finds
  // its store without any of them.
  "server/gateway": [
    "server/gateway/index.ts",
    "server/gateway/config/index.ts",
    "server/gateway/config/access-token.ts",
    "server/gateway/config/config-files.ts",
    "server/gateway/identity/index.ts",
  ],
  "adapters/hooks": [
    "adapters/hooks/index.ts",
    "adapters/hooks/hook-place.ts",
    "adapters/hooks/status-line.ts",
  ],
  "adapters/mcp": ["adapters/mcp/index.ts"],
  "stores/testing": ["stores/testing/index.ts"],
};

/** Implementations of ports, which only open-kernel and their own files may import. */
const IMPLEMENTATIONS = ["stores/sqlite", "stores/postgres", "wire/provider/ai-sdk"];
/** The entry that exports the provider on the AI SDK, and adapters that parse usage and errors like it. */
const ADAPTERS = ["adapters/ai/index.ts", "adapters/ai/model-call.ts", "recall/embed/ai-sdk-embedder.ts"];

/** The rooms above the kernel see those below it through its faces, apart from `model` and `wire`. */
const KERNEL_FACES = ["kernel/index.ts", "kernel/faces/", "kernel/calls/", "kernel/usage/"];
const ABOVE_KERNEL = ["histories", "adapters", "server", "cli"];
/** Not public: both keep a model's text from posing as ours. */
const SHARED_INSIDE = ["recall/text/sanitize-text.ts"];

const sources = readSources("src");
const files = sources.map(({ path }) => toInner(path));
const imports = sources.flatMap((source) =>
  source.imports.map(({ from, to }) => ({ from: toInner(from), to: toInner(to) })),
);

function toInner(path: string): string {
  return relative("src", path);
}

const order = Object.keys(ROOMS);
const roomOf = (path: string) => path.split("/")[0] as string;
const isWithin = (folder: string, other: string) => `${folder}/`.startsWith(`${other}/`);
const implementationOf = (path: string) => IMPLEMENTATIONS.find((folder) => isWithin(path, folder));
/** The name of the folder directly inside `folder` that holds a file; undefined for files of the folder itself. */
const nameInside = (folder: string, path: string) =>
  isWithin(path, folder)
    ? path
        .slice(folder.length + 1)
        .split("/")
        .slice(0, -1)[0]
    : undefined;

describe("the rooms of the source", () => {
  test("the source has twelve rooms, and every file is in one of them", () => {
    expect(files.length).toBeGreaterThan(40);
    expect([...new Set(files.map(roomOf))].toSorted()).toEqual(order.toSorted());
    expect(order.length).toBe(12);
  });

  test("a room imports only the lower rooms in its row", () => {
    const rising = order.flatMap((room, height) =>
      (ROOMS[room] ?? []).filter((other) => order.indexOf(other) >= height || !order.includes(other)),
    );
    expect(rising).toEqual([]);
    const arrows = imports
      .filter(({ from, to }) => roomOf(from) !== roomOf(to))
      .map(({ from, to }) => `${roomOf(from)} → ${roomOf(to)}`);
    const named = Object.entries(ROOMS).flatMap(([room, lower]) =>
      lower.map((other) => `${room} → ${other}`),
    );
    expect([...new Set(arrows)].toSorted()).toEqual(named.toSorted());
  });
});

describe("imports", () => {
  test("imports refer only to files that exist", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(({ to }) => !existsSync(join(src, to)))).toEqual([]);
  });

  test("imports use no export that the oldest supported Node lacks", () => {
    const zstdByName = /import \{[^}]*zstd[^}]*\} from "node:zlib"/i;
    expect(sources.filter(({ text }) => zstdByName.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("only the kernel's opening imports implementations of ports, and only the adapters those of the AI SDK", () => {
    const naming = imports.filter(({ from, to }) => {
      const implementation = implementationOf(to);
      const isOpening = from === "kernel/open-kernel.ts" || dirname(from) === "kernel/entries";
      const isOwn = implementationOf(from) === implementation || isOpening;
      const isAdapter = implementation === "wire/provider/ai-sdk" && ADAPTERS.includes(from);
      return implementation && !isOwn && !isAdapter;
    });
    expect(naming).toEqual([]);
  });

  test("rooms above the kernel import lower rooms only through the kernel's faces", () => {
    const isFace = (path: string) => KERNEL_FACES.some((face) => path.startsWith(face));
    const inside = imports.filter(({ from, to }) => {
      const isBelow = order.indexOf(roomOf(to)) <= order.indexOf("kernel");
      const isPlain = ["model", "wire"].includes(roomOf(to));
      const isNamed = ADAPTERS.includes(from) || SHARED_INSIDE.includes(to);
      return ABOVE_KERNEL.includes(roomOf(from)) && isBelow && !isPlain && !isFace(to) && !isNamed;
    });
    expect(inside).toEqual([]);
  });

  test("a folder with a face is imported only through that face", () => {
    const around = imports.filter(({ from, to }) => {
      const folder = Object.keys(FACES).find((one) => isWithin(to, one));
      const isEntry = /^\w+\/entries$/.test(dirname(from));
      return folder && !isWithin(from, folder) && !isEntry && !FACES[folder]?.includes(to);
    });
    expect(around).toEqual([]);
  });
});

describe("folders", () => {
  test("folders in a large folder have a row, and import only from lower rows", () => {
    const found = Object.entries(ROWS).flatMap(([folder, rows]) => {
      const heightOf = (name: string) => rows.findIndex((row) => row.includes(name));
      const names = files.flatMap((path) => nameInside(folder, path) ?? []);
      const missing = [...new Set(names)].filter((name) => heightOf(name) === -1);
      const rising = imports.filter(({ from, to }) => {
        const [one, other] = [nameInside(folder, from), nameInside(folder, to)];
        if (one === undefined || other === undefined || one === other) return false;
        return heightOf(other) >= heightOf(one);
      });
      return [
        ...missing.map((name) => `${folder}/${name} has no row`),
        ...rising.map(({ from, to }) => `${from} imports ${to}`),
      ];
    });
    expect(found).toEqual([]);
  });

  test("every folder with a row exists", () => {
    const named = Object.entries(ROWS).flatMap(([folder, rows]) =>
      rows.flat().map((name) => `${folder}/${name}`),
    );
    expect(named.filter((folder) => !existsSync(join(src, folder)))).toEqual([]);
  });

  test("folders do not import each other in a circle, except for a folder and its own subfolder", () => {
    const crossing = imports
      .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }))
      .filter(({ from, to }) => !isWithin(from, to) && !isWithin(to, from));
    const folders = [...new Set(files.map((path) => dirname(path)))];
    expect(findCycle(folders, crossing)).toEqual([]);
  });
});

test("files do not import each other in a circle", () => {
  expect(findCycle(files, imports)).toEqual([]);
  const web = readSources("web", /\.tsx?$/);
  const between = web.flatMap((source) => source.imports);
  expect(between.some(({ to }) => to.endsWith(".tsx"))).toBe(true);
  expect(
    findCycle(
      web.map(({ path }) => path),
      between,
    ),
  ).toEqual([]);
});

test("SQL has no numbered parameters, because node:sqlite before Node 22.20 takes them for names", () => {
  const numbered = sources.filter(
    ({ path, text }) => path.startsWith("src/stores/sqlite/") && /[\s(=<>]\?[1-9]/.test(text),
  );
  expect(numbered.map(({ path }) => path)).toEqual([]);
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
