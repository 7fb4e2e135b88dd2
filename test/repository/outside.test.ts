import { expect, test } from "vitest";
import { readSources } from "./source-graph.ts";

const sources = readSources("src");

/** Functions of node:fs that open a file: each waits for ever at a pipe and follows a link. */
const OPENING = /\b(open|openSync|readFile|readFileSync|createReadStream|copyFile|copyFileSync|cp|cpSync)\b/;

/** Files that open only files of longhaul itself, of its package, or of the system. */
const OWN_FILES: Readonly<Record<string, string>> = {
  "src/model/base/outside-file.ts": "the module that opens files from outside",
  "src/adapters/hooks/given-texts.ts": "digests in the folder of the store",
  "src/adapters/hooks/hook-setups.ts": "a file of the package",
  "src/cli/commands/doctor-command.ts": "the environment file of the store",
  "src/cli/commands/service-commands.ts": "the unit that longhaul wrote",
  "src/cli/connecting/agent-file.ts": "a new file of its own",
  "src/cli/connecting/connection-record.ts": "records in the folder of the store",
  "src/cli/exporting/staging-folder.ts": "new files of its own",
  "src/cli/mcp-greeter.ts": "a file of the package",
  "src/cli/open-store.ts": "the user's settings of longhaul",
  "src/cli/serving/serve-gateway.ts": "/proc",
  "src/cli/sessions/session-listing.ts": "the last listing in the folder of the store",
  "src/cli/store-environment.ts": "the environment file of the store",
  "src/histories/importing/agent-processes.ts": "/proc",
  "src/histories/reading/source-database.ts": "a copy of a database whose facts were checked",
  "src/kernel/usage/savings-estimates.ts": "a file in the folder of the store",
  "src/model/base/package-files.ts": "files of the package",
  "src/model/base/process-identity.ts": "/proc",
  "src/recall/embed/static/static-weights.ts": "files of the package",
  "src/recall/embed/static/stored-tables.ts": "files of the package",
  "src/server/gateway/call/build-call-request.ts": "a file in the folder of the store",
  "src/server/gateway/config/config-problem.ts": "/proc",
  "src/server/gateway/door/principal.ts": "the key in the folder of the store",
  "src/server/gateway/pages/send-dashboard.ts": "files of the package",
  "src/stores/postgres/blobs/objects/object-client.ts": "a staged file of its own",
  "src/stores/postgres/blobs/objects/staged-file.ts": "a staged file of its own",
  "src/stores/sqlite/backup/backup-store.ts": "files of the store",
  "src/stores/sqlite/backup/copy-verified.ts": "new files of its own",
  "src/stores/sqlite/blob-files.ts": "files of the store",
  "src/stores/sqlite/connect-database.ts": "files of the store",
  "src/stores/sqlite/connect-read-only.ts": "files of the store",
  "src/tasks/process/system-table.ts": "/proc",
  "src/tasks/worktree/branch-intent.ts": "records in git's own folder",
  "src/tasks/worktree/remove-worktree.ts": "locks in git's own folder",
};

/** The names that a file imports from a module of Node, except types. */
function listNames(text: string, module: string): readonly string[] {
  const clause = new RegExp(
    `(?:import\\s+([^;]*?)\\s+from\\s+"${module}"|const\\s+(\\{[^}]*\\})\\s*=\\s*process\\.getBuiltinModule\\("${module}"\\))`,
    "g",
  );
  return [...text.matchAll(clause)].flatMap(([, first, second]) =>
    (first ?? second ?? "")
      .replace(/[{}]/g, "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type ")),
  );
}

test("files from outside are opened by outside-file.ts only, which waits for no pipe and follows no link", () => {
  const opening = sources.filter(({ text }) =>
    ["node:fs", "node:fs/promises"].some((module) =>
      listNames(text, module).some((name) => OPENING.test(name) || name.startsWith("*")),
    ),
  );
  const paths = opening.map(({ path }) => path);
  expect(paths).toContain("src/model/base/outside-file.ts");
  const isKnown = (path: string) => path in OWN_FILES || path === "src/cli/hook-relay.ts";
  expect(paths.filter((path) => !isKnown(path))).toEqual([]);
  expect(Object.keys(OWN_FILES).filter((path) => !paths.includes(path))).toEqual([]);
});

/** Modules that write files under names from outside. */
const PLACING = [
  "src/histories/continuing/continuation.ts",
  "src/histories/continuing/place-kept-file.ts",
  "src/cli/commands/export-command.ts",
  "src/stores/sqlite/backup/backup-store.ts",
];

test("names from outside become paths by joinInside, which refuses whatever leads out of their folder", () => {
  for (const path of PLACING) {
    const text = sources.find((source) => source.path === path)?.text ?? "";
    expect(text, path).toMatch(/\bjoinInside\(/);
    expect(text.match(/\bjoin\([\w.]+, (?:file|piece|path)\)/g) ?? [], path).toEqual([]);
  }
});

test("readers of histories write nothing but temporary copies of databases", () => {
  const writing = sources.filter(
    ({ path, text }) =>
      path.startsWith("src/histories/") &&
      ["node:fs", "node:fs/promises"].some((module) =>
        listNames(text, module).some((name) =>
          /^(write|append|mkdir|rm|rename|link|symlink|cp|copy|unlink)/.test(name),
        ),
      ),
  );
  expect(writing.map(({ path }) => path)).toEqual(["src/histories/reading/source-database.ts"]);
});
