import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listExports, readSources, type SourceFile } from "./source-graph.ts";

/** Folders outside `src` whose files may use it. */
const OUTSIDE = ["test", "bench", "clients", "demo", "examples", "training", "web"];
/** Names that only tests, benches, training, the dashboard and the build use. */
const FOR_TESTS = [
  "api/core/route.ts ByteRoute",
  "api/core/route.ts JsonRoute",
  "api/core/route.ts StreamRoute",
  "cli/context/render-window-bar.ts apportionColumns",
  "cli/exporting/export-target.ts mapIntoFolder",
  "cli/phase-bar.ts computeWholeShare",
  "cli/phase-bar.ts formatBar",
  "cli/program.ts COMMANDS",
  "cli/program.ts PROGRAM",
  "compact/contract/summary-prompt.ts DATA_RULE",
  "compact/extractive/extract-summary.ts ExtractOptions",
  "compact/gate/summary-verdict.ts SUMMARY_FAULTS",
  "compact/plan/divide-slot.ts MAX_PIECES",
  "formats/copies/known-texts.ts KnownContent",
  "formats/importing/agent-processes.ts isAgentCommand",
  "formats/reading/input.ts InputOptions",
  "formats/reading/read-bytes.ts BytesOptions",
  "gateway/call/call-state.ts CallTransition",
  "gateway/door/guard-server.ts ServerGuard",
  "gateway/door/peer-user.ts findUid",
  "gateway/door/peer-user.ts toTableForms",
  "gateway/door/read-body.ts BodyReadResult",
  "gateway/door/request-head.ts groupHeaders",
  "gateway/identity/agent-shape.ts compareShapes",
  "gateway/observe/gateway-log.ts GatewayLogOptions",
  "gateway/observe/metric.ts MAX_SERIES",
  "gateway/outgoing/cache-markers.ts placeMarkers",
  "gateway/outgoing/plan-outgoing.ts IndexedMessage",
  "gateway/recall/recall-tools.ts RECALL_TOOL",
  "gateway/reply/relay/relay-response.ts RelayResult",
  "gateway/request/read-request.ts parseRequest",
  "gateway/upstream/connection-agents.ts AgentsOptions",
  "gateway/upstream/send-upstream.ts UpstreamRequest",
  "gateway/upstream/upstream-headers.ts OutgoingHeaderOptions",
  "log/entry-body.ts decodeBody",
  "memory/embed/static/static-embedder.ts createStaticEmbedder",
  "memory/embed/static/static-tokenizer.ts MAX_UNITS",
  "memory/embed/static/static-weights.ts packWeights",
  "memory/embed/static/static-weights.ts unpackWeights",
  "memory/embed/static/stored-tables.ts TABLES_FILE",
  "memory/embed/static/stored-tables.ts packTables",
  "memory/embed/static/stored-tables.ts unpackTables",
  "memory/memory.ts MemoryDeps",
  "memory/rank/term-vectors.ts mapTerms",
  "memory/rank/term-vectors.ts toTermVector",
  "memory/text/split-text.ts CODE_CHUNK",
  "memory/text/split-text.ts PROSE_CHUNK",
  "memory/text/traits.ts Trait",
  "model/line.ts MAX_LINE_RANGES",
  "process/cleanups.ts createCleanups",
  "process/ps-table.ts parsePsLine",
  "provider/timeouts.ts defaultTimeouts",
  "task/state.ts isEnding",
  "task/worktree-isolation.ts WorktreePlace",
  "window/inline-tool-output.ts parseOutputHeader",
  "window/policies/anthropic-clear-policy.ts AnthropicClearOptions",
  "window/policies/cline-policy.ts computeMaxAllowedTokens",
  "window/policies/roo-policy.ts CondenseOptions",
  "window/policies/roo-policy.ts computeAllowedTokens",
  "window/replay/refetch-table.ts RefetchTable",
  "window/tokens/calibration.ts Calibration",
  "window/tokens/tokenizer.ts TOKENIZERS",
  "window/usage/ledger.ts buildLedger",
  "wire/parse-usage-report.ts REPORTING_APIS",
  "worktree/worktree-status.ts parseStatus",
  "worktree/worktree.ts openWorktree",
];

const sources = readSources("src");
const inSource = collectUses(sources);
const outside = collectUses(OUTSIDE.flatMap(readSources));
const entries = readEntries();

/** The names that files import from each module; "all" for a module that is taken as a whole. */
function collectUses(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string> | "all"> {
  const uses = new Map<string, ReadonlySet<string> | "all">();
  for (const { to, names } of files.flatMap(({ imports }) => imports)) {
    const known = uses.get(to) ?? [];
    uses.set(to, known === "all" || !names ? "all" : new Set([...known, ...names]));
  }
  return uses;
}

/** The modules that the package exports. */
function readEntries(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return Object.values(exports as Record<string, { default?: string }>).flatMap(({ default: path }) =>
    path === undefined ? [] : [path.replace("./dist/", "src/").replace(/\.js$/, ".ts")],
  );
}

function isUsed(uses: ReturnType<typeof collectUses>, path: string, name: string): boolean {
  const known = uses.get(path);
  return known === "all" || known?.has(name) === true;
}

const unused = sources
  .filter(({ path }) => !entries.includes(path))
  .flatMap((file) => listExports(file).map((name) => ({ path: file.path, name })))
  .filter(({ path, name }) => !isUsed(inSource, path, name))
  .map(({ path, name }) => ({
    name: `${path.replace(/^src\//, "")} ${name}`,
    isTested: isUsed(outside, path, name),
  }));

describe("an exported name", () => {
  test("has a user outside its file", () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(unused.filter(({ isTested }) => !isTested).map(({ name }) => name)).toEqual([]);
  });

  test("that only tests and benches use is listed, and nothing else is", () => {
    const tested = unused.filter(({ isTested }) => isTested).map(({ name }) => name);
    expect(tested.toSorted()).toEqual(FOR_TESTS.toSorted());
  });
});
