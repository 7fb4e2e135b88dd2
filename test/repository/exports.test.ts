import { describe, expect, test } from "vitest";
import { listEntries, listExports, readSources, type SourceFile } from "./source-graph.ts";

/** Folders outside `src` whose files may use it. */
const OUTSIDE = ["test", "bench", "clients", "demo", "examples", "training", "web"];
/** Names that only tests, benches, training, the dashboard and the build use. */
const FOR_TESTS = [
  "api/core/route.ts ByteRoute",
  "api/core/route.ts JsonRoute",
  "api/core/route.ts StreamRoute",
  "cli/context/render-context.ts apportionColumns",
  "cli/phase-bar.ts computeWholeShare",
  "cli/phase-bar.ts formatBar",
  "cli/program.ts COMMANDS",
  "cli/program.ts PROGRAM",
  "cli/transcript/transcript-formatter.ts renderExcerpt",
  "compact/auto-compaction.ts SummaryPlace",
  "compact/auto-compaction.ts chooseCompactionAction",
  "compact/auto-compaction.ts isWorthSummarizing",
  "compact/contract/summary-prompt.ts DATA_RULE",
  "compact/contract/summary-prompt.ts renderTranscript",
  "compact/extractive/extract-summary.ts ExtractOptions",
  "compact/gate/summary-verdict.ts SUMMARY_FAULTS",
  "compact/plan/split-by-tokens.ts MAX_PIECES",
  "compact/plan/split-by-tokens.ts divideSlot",
  "compact/summarizing-policy.ts dropShownLines",
  "conversation/call-window.ts hasRunServerTools",
  "conversation/control/control-report.ts computeBootstrapInterval",
  "conversation/control/control-report.ts isCorrection",
  "formats/agents/vscode-chat-format.ts applyMutation",
  "formats/copies/known-texts.ts KnownContent",
  "formats/importing/agent-processes.ts isAgentCommand",
  "formats/markdown/markdown-writer.ts escapeInline",
  "formats/markdown/markdown-writer.ts formatCodeBlock",
  "formats/markdown/markdown-writer.ts sanitizeMarkdown",
  "formats/openclaw/openclaw-decoder.ts findSender",
  "formats/reading/input.ts InputOptions",
  "formats/reading/json-lines.ts TextLine",
  "formats/reading/json-lines.ts splitTextLines",
  "formats/reading/read-bytes.ts BytesOptions",
  "formats/writers.ts anthropicWriter",
  "formats/writers.ts openaiChatWriter",
  "formats/writers.ts openaiResponsesWriter",
  "gateway/cache/keep-alive.ts KeptRequest",
  "gateway/call/build-call-request.ts buildEditsPolicy",
  "gateway/call/call-content.ts CallTransition",
  "gateway/door/admit.ts parseTarget",
  "gateway/door/guard-server.ts ServerGuard",
  "gateway/door/peer-user.ts KernelTable",
  "gateway/lookup/client-summaries.ts findSummaryIndex",
  "gateway/lookup/client-summaries.ts hasSummary",
  "gateway/lookup/new-thread.ts buildTitle",
  "gateway/door/peer-user.ts findUid",
  "gateway/door/peer-user.ts toTableForms",
  "gateway/door/read-body.ts BodyReadResult",
  "gateway/door/request-head.ts groupHeaders",
  "gateway/identity/agent-shape.ts compareShapes",
  "gateway/observe/gateway-log.ts GatewayLogOptions",
  "gateway/observe/gateway-log.ts LogLevel",
  "gateway/observe/gateway-log.ts formatPrettyLine",
  "gateway/observe/metric.ts MAX_SERIES",
  "gateway/observe/spans.ts CallStart",
  "gateway/observe/spans.ts formatTraceParent",
  "gateway/observe/spans.ts parseTraceParent",
  "gateway/outgoing/cache-markers.ts placeMarkers",
  "gateway/outgoing/plan-outgoing.ts IndexedMessage",
  "gateway/recall/recall-tools.ts RECALL_TOOL",
  "gateway/reply/relay/relay-response.ts RelayResult",
  "gateway/reply/relay/upstream-refusal.ts findFirstFailure",
  "gateway/reply/rounds/call-rounds.ts ROUND_FORMATS",
  "gateway/reply/rounds/call-rounds.ts trimRecallResults",
  "gateway/request/lift.ts findLargeValues",
  "gateway/request/seen-bodies.ts SeenFrames",
  "gateway/thread/thread-messages.ts ReminderMark",
  "gateway/thread/thread-messages.ts buildReminderMark",
  "gateway/thread/thread-messages.ts canBeReminder",
  "gateway/thread/thread-messages.ts countSimilarReminders",
  "gateway/request/read-request.ts parseRequest",
  "gateway/thread/thread-recall.ts ContextTexts",
  "gateway/upstream/check-ownership.ts findReferences",
  "gateway/upstream/send-upstream.ts AgentsOptions",
  "gateway/upstream/send-upstream.ts isSafePath",
  "gateway/redact/redactor.ts redactInput",
  "gateway/redact/redactor.ts RedactionThread",
  "gateway/reception/answer-page.ts buildReadyPage",
  "gateway/recall/search-memory.ts findPersonText",
  "gateway/outgoing/check-rules.ts findRepeatedRoles",
  "gateway/outgoing/check-rules.ts findNewViolations",
  "gateway/outgoing/cache-markers.ts moveMarkers",
  "gateway/outgoing/cache-markers.ts SentElement",
  "gateway/upstream/upstream-headers.ts OutgoingHeaderOptions",
  "log/blobs.ts decodeBase64",
  "log/blobs.ts splitDataUrl",
  "log/codec.ts PRIMER",
  "log/entry-body.ts decodeBody",
  "log/entry-body.ts frameMessage",
  "log/entry-body.ts unframeMessage",
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
  "monitor/monitor.ts judgePressure",
  "monitor/monitor.ts measureGrowth",
  "process/cleanups.ts EndingHost",
  "process/cleanups.ts createCleanups",
  "process/system-table.ts createProcTable",
  "process/system-table.ts createPsTable",
  "process/system-table.ts parsePsLine",
  "provider/ai-sdk/ai-sdk-provider.ts completeBaseUrl",
  "provider/ai-sdk/ai-sdk-provider.ts resolveModel",
  "provider/timeouts.ts defaultTimeouts",
  "provider/with-retries.ts Retry",
  "store/postgres/connection/connect-pool.ts ClientLender",
  "store/postgres/connection/postgres-database.ts StatementTexts",
  "store/postgres/memory/server/word-search.ts buildLexemeQuery",
  "store/postgres/memory/server/word-search.ts buildLexemes",
  "store/postgres/memory/server/word-search.ts chooseCombinations",
  "store/sqlite/sqlite-entries.ts searchByTime",
  "task/state.ts isEnding",
  "task/sweeper.ts decideRecovery",
  "task/worktree-isolation.ts WorktreePlace",
  "touch/find-touches.ts parseCommandTouches",
  "window/extract/fact-table.ts FactIndex",
  "window/extract/fact-tracker.ts forEachBareLine",
  "window/extract/fact-tracker.ts isVerbatimRange",
  "window/inline-tool-output.ts parseOutputHeader",
  "window/live/find-removed-names.ts findContained",
  "window/live/heal-window.ts computeOutputLeft",
  "window/live/heal-window.ts removeImpossibleCounts",
  "window/live/store-plan.ts computeEdits",
  "window/policies/anthropic-clear-policy.ts AnthropicClearOptions",
  "window/policies/cline-policy.ts computeMaxAllowedTokens",
  "window/policies/longhaul/stretch-weights.ts TERMS",
  "window/policies/longhaul/stretch-weights.ts listTerms",
  "window/policies/openclaw-policy.ts trimResults",
  "window/policies/roo-policy.ts CondenseOptions",
  "window/policies/roo-policy.ts computeAllowedTokens",
  "window/policies/roo-policy.ts keepEnds",
  "window/replay/refetch-estimate.ts REFETCH_TABLE",
  "window/replay/refetch-estimate.ts RefetchTable",
  "window/replay/refetch-estimate.ts findRefetchChance",
  "window/shrink/shrink-output.ts cutLikeLines",
  "window/shrink/shrink-output.ts cutPassingTests",
  "window/shrink/shrink-output.ts cutRepeatedLines",
  "window/shrink/shrink-output.ts cutSearchPaths",
  "window/shrink/shrink-output.ts stripTerminalCodes",
  "window/tokens/calibration.ts Calibration",
  "window/tokens/estimate-text.ts TEXT_FEATURES",
  "window/tokens/estimate-text.ts TOKEN_WEIGHTS",
  "window/tokens/estimate-text.ts countFeatures",
  "window/tokens/tokenizer.ts TOKENIZERS",
  "window/tokens/tokenizer.ts countInPieces",
  "window/usage/ledger.ts buildLedger",
  "wire/parse-usage-report.ts REPORTING_APIS",
  "worktree/collect-stale.ts CollectStaleOptions",
  "worktree/create-worktree.ts toTaskName",
  "worktree/git.ts buildGitEnvironment",
  "worktree/judge-worktree.ts parseStatus",
  "worktree/worktree.ts openWorktree",
];

const sources = readSources("src");
const inSource = collectUses(sources);
const outside = collectUses(OUTSIDE.flatMap(readSources));
const entries = listEntries();

/** The names that files import from each module; "all" for a module that is taken as a whole. */
function collectUses(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string> | "all"> {
  const uses = new Map<string, ReadonlySet<string> | "all">();
  for (const { to, names } of files.flatMap(({ imports }) => imports)) {
    const known = uses.get(to) ?? [];
    uses.set(to, known === "all" || !names ? "all" : new Set([...known, ...names]));
  }
  return uses;
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
