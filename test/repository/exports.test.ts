import { describe, expect, test } from "vitest";
import { listEntries, listExports, readSources, type SourceFile } from "./source-graph.ts";

/** Folders outside `src` whose files may use it. */
const OUTSIDE = ["test", "bench", "clients", "demo", "examples", "training", "web"];
/** Names that only tests, benches, training, the dashboard and the build use. */
const FOR_TESTS = [
  "cli/importing/import-once.ts computeImportShare",
  "log/migration/move-store.ts MOVED_PARTS",
  "server/gateway/cache/bound-thinking.ts ThoughtBinding",
  "server/gateway/cache/cache-watch.ts setMarkerTtl",
  "window/shown-contents.ts findShownFiles",
  "window/shrink/result-shrinker.ts describeCall",
  "window/shrink/result-shrinker.ts findAskedLiterals",
  "window/shrink/result-shrinker.ts hasLiteral",
  "window/models/known-models.ts OPENAI_MODELS",
  "window/models/known-models.ts OTHER_MODELS",
  "window/models/known-models.ts ANTHROPIC_MODELS",
  "window/models/known-models.ts GOOGLE_MODELS",
  "window/policies/known-policies.ts anthropicClearPolicy",
  "window/policies/known-policies.ts openclawPolicy",
  "window/policies/known-policies.ts rooPolicy",
  "window/policies/known-policies.ts clinePolicy",
  "window/policies/known-policies.ts nonePolicy",
  "window/session/window-pager.ts chooseStretches",
  "window/session/window-pager.ts PageStretch",
  "window/session/window-pager.ts computePageTokens",
  "server/api/core/route.ts ByteRoute",
  "server/api/core/route.ts JsonRoute",
  "server/api/core/route.ts StreamRoute",
  "cli/terminal/phase-bar.ts computeWholeShare",
  "cli/terminal/phase-bar.ts formatBar",
  "cli/connecting/agents/connectors.ts claudeCodeConnector",
  "cli/program.ts COMMANDS",
  "cli/program.ts PROGRAM",
  "cli/program.ts formatCommandHelp",
  "cli/program.ts formatGroupHelp",
  "cli/program.ts formatProgramHelp",
  "cli/transcript/transcript-formatter.ts renderExcerpt",
  "window/compact/auto-compaction.ts SummaryPlace",
  "window/compact/auto-compaction.ts chooseCompactionAction",
  "window/compact/auto-compaction.ts isWorthSummarizing",
  "window/compact/contract/summary-prompt.ts DATA_RULE",
  "window/compact/contract/summary-prompt.ts renderTranscript",
  "window/compact/extractive/extract-summary.ts ExtractOptions",
  "window/compact/gate/summary-verdict.ts SUMMARY_FAULTS",
  "window/compact/plan/split-by-tokens.ts MAX_PIECES",
  "window/compact/plan/split-by-tokens.ts divideSlot",
  "window/compact/summarizing-policy.ts dropShownLines",
  "kernel/calls/call-window.ts hasRunServerTools",
  "kernel/usage/control-report.ts computeBootstrapInterval",
  "kernel/usage/control-report.ts isCorrection",
  "histories/agents/vscode-chat-format.ts applyMutation",
  "histories/deduplication/known-texts.ts KnownContent",
  "histories/importing/agent-processes.ts isAgentCommand",
  "histories/markdown/markdown-writer.ts escapeInline",
  "histories/markdown/markdown-writer.ts formatCodeBlock",
  "histories/markdown/markdown-writer.ts sanitizeMarkdown",
  "histories/openclaw/openclaw-decoder.ts findSender",
  "histories/reading/input.ts InputOptions",
  "histories/reading/json-lines.ts TextLine",
  "histories/reading/json-lines.ts splitTextLines",
  "histories/reading/read-bytes.ts BytesOptions",
  "histories/writers.ts anthropicWriter",
  "histories/writers.ts openaiChatWriter",
  "histories/writers.ts openaiResponsesWriter",
  "server/gateway/cache/keep-alive.ts KeptRequest",
  "server/gateway/call/build-call-request.ts buildEditsPolicy",
  "server/gateway/call/call-content.ts CallTransition",
  "server/gateway/door/admit.ts parseTarget",
  "server/gateway/door/guard-server.ts ServerGuard",
  "server/gateway/door/principal.ts KernelTable",
  "server/gateway/lookup/client-summaries.ts findSummaryIndex",
  "server/gateway/lookup/client-summaries.ts hasSummary",
  "server/gateway/lookup/new-thread.ts buildTitle",
  "server/gateway/door/principal.ts findUid",
  "server/gateway/door/principal.ts toTableForms",
  "server/gateway/door/read-body.ts BodyReadResult",
  "server/gateway/door/request-head.ts groupHeaders",
  "server/gateway/identity/request-kind.ts compareShapes",
  "server/gateway/observe/gateway-log.ts GatewayLogOptions",
  "server/gateway/observe/gateway-log.ts LogLevel",
  "server/gateway/observe/gateway-log.ts formatPrettyLine",
  "server/gateway/observe/metric.ts MAX_SERIES",
  "server/gateway/observe/spans.ts CallStart",
  "server/gateway/observe/spans.ts formatTraceParent",
  "server/gateway/observe/spans.ts parseTraceParent",
  "server/gateway/outgoing/cache-markers.ts placeMarkers",
  "server/gateway/outgoing/outgoing-pieces.ts IndexedMessage",
  "server/gateway/recall/recall-tools.ts RECALL_TOOL",
  "server/gateway/reply/relay/relay-response.ts RelayResult",
  "server/gateway/reply/relay/upstream-refusal.ts findFirstFailure",
  "server/gateway/reply/rounds/call-rounds.ts ROUND_FORMATS",
  "server/gateway/reply/rounds/call-rounds.ts trimRecallResults",
  "server/gateway/request/lift.ts findLargeValues",
  "server/gateway/request/seen-bodies.ts SeenFrames",
  "server/gateway/thread/thread-messages.ts ReminderMark",
  "server/gateway/thread/thread-messages.ts buildReminderMark",
  "server/gateway/thread/thread-messages.ts canBeReminder",
  "server/gateway/thread/thread-messages.ts countSimilarReminders",
  "server/gateway/request/read-request.ts parseRequest",
  "server/gateway/upstream/check-ownership.ts findReferences",
  "server/gateway/upstream/send-upstream.ts AgentsOptions",
  "server/gateway/upstream/send-upstream.ts isSafePath",
  "server/gateway/thread/redactor.ts redactInput",
  "server/gateway/thread/redactor.ts RedactionThread",
  "server/gateway/reception/answer-page.ts buildReadyPage",
  "server/gateway/reception/begin-exchange.ts findPersonText",
  "server/gateway/outgoing/check-rules.ts findRepeatedRoles",
  "server/gateway/outgoing/check-rules.ts findNewViolations",
  "server/gateway/outgoing/cache-markers.ts moveMarkers",
  "server/gateway/outgoing/cache-markers.ts SentElement",
  "server/gateway/upstream/upstream-headers.ts OutgoingHeaderOptions",
  "log/blobs.ts decodeBase64",
  "log/blobs.ts splitDataUrl",
  "log/codec.ts PRIMER",
  "log/entry-body.ts decodeBody",
  "log/entry-body.ts frameMessage",
  "log/entry-body.ts unframeMessage",
  "recall/embed/static/static-embedder.ts createVocabulary",
  "recall/files/index-files.ts listDefinitions",
  "recall/index-search.ts listSearchTerms",
  "recall/index/entry-texts.ts detectEvidence",
  "recall/index/entry-texts.ts parsePlanCall",
  "recall/index/find-candidates.ts findDirectChunks",
  "recall/index/session-speakers.ts isTranscript",
  "recall/index/session-speakers.ts parseTranscriptLine",
  "recall/rank/compute-features.ts fillMissingSimilarities",
  "recall/certainty.ts Evidence",
  "recall/certainty.ts measureEvidence",
  "recall/embed/static/static-embedder.ts createStaticEmbedder",
  "recall/embed/static/static-tokenizer.ts MAX_UNITS",
  "recall/embed/static/static-weights.ts packWeights",
  "recall/embed/static/static-weights.ts unpackWeights",
  "recall/embed/static/stored-tables.ts TABLES_FILE",
  "recall/embed/static/stored-tables.ts packTables",
  "recall/embed/static/stored-tables.ts unpackTables",
  "recall/memory.ts MemoryDeps",
  "recall/rank/term-vectors.ts mapTerms",
  "recall/rank/term-vectors.ts toTermVector",
  "recall/text/split-text.ts CODE_CHUNK",
  "recall/text/split-text.ts PROSE_CHUNK",
  "recall/text/traits.ts Trait",
  "model/line.ts MAX_LINE_RANGES",
  "kernel/monitor/monitor.ts judgePressure",
  "kernel/monitor/monitor.ts measureGrowth",
  "tasks/process/cleanups.ts EndingHost",
  "tasks/process/cleanups.ts createCleanups",
  "tasks/process/system-table.ts createProcTable",
  "tasks/process/system-table.ts createPsTable",
  "tasks/process/system-table.ts parsePsLine",
  "wire/provider/ai-sdk/ai-sdk-provider.ts completeBaseUrl",
  "wire/provider/ai-sdk/ai-sdk-provider.ts resolveModel",
  "wire/provider/timeouts.ts defaultTimeouts",
  "wire/provider/with-retries.ts Retry",
  "stores/postgres/connection/connect-pool.ts ClientLender",
  "stores/postgres/connection/postgres-database.ts StatementTexts",
  "stores/sqlite/sqlite-entries.ts searchByTime",
  "tasks/journal.ts MOVES",
  "tasks/journal.ts isEnding",
  "tasks/sweeper.ts decideRecovery",
  "tasks/worktree-isolation.ts WorktreePlace",
  "window/effects/find-touches.ts parseCommandTouches",
  "window/extract/clue-table.ts ClueIndex",
  "window/extract/clue-tracker.ts forEachBareLine",
  "window/extract/clue-tracker.ts isVerbatimRange",
  "window/inline-tool-output.ts parseOutputHeader",
  "window/session/find-removed-names.ts findContained",
  "window/session/heal-window.ts computeOutputLeft",
  "window/session/heal-window.ts removeImpossibleCounts",
  "window/session/store-plan.ts computeEdits",
  "window/policies/known-policies.ts AnthropicClearOptions",
  "window/policies/known-policies.ts computeMaxAllowedTokens",
  "window/policies/longhaul/file-stretches.ts TERMS",
  "window/policies/longhaul/file-stretches.ts listTerms",
  "window/policies/known-policies.ts trimResults",
  "window/policies/known-policies.ts CondenseOptions",
  "window/policies/known-policies.ts computeAllowedTokens",
  "window/policies/known-policies.ts keepEnds",
  "window/replay/refetch-estimate.ts REFETCH_TABLE",
  "window/replay/refetch-estimate.ts RefetchTable",
  "window/replay/refetch-estimate.ts findRefetchChance",
  "window/shrink/output-lines.ts readLineNumber",
  "window/shrink/shrink-output.ts stripTerminalCodes",
  "window/tokens/calibration.ts Calibration",
  "window/tokens/estimate-text.ts TEXT_FEATURES",
  "window/tokens/estimate-text.ts TOKEN_WEIGHTS",
  "window/tokens/estimate-text.ts countFeatures",
  "window/tokens/tokenizer.ts TOKENIZERS",
  "window/tokens/tokenizer.ts countInPieces",
  "wire/wires.ts REPORTING_APIS",
  "tasks/worktree/collect-stale.ts CollectStaleOptions",
  "tasks/worktree/create-worktree.ts toTaskName",
  "tasks/worktree/git.ts buildGitEnvironment",
  "tasks/worktree/judge-worktree.ts parseStatus",
];

const sources = readSources("src");
const inSource = collectUses(sources);
const outside = collectUses(OUTSIDE.flatMap((folder) => readSources(folder)));
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
  test("an exported name is used outside its file", () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(unused.filter(({ isTested }) => !isTested).map(({ name }) => name)).toEqual([]);
  });

  test("exported names used only by tests and benches are exactly the listed ones", () => {
    const tested = unused.filter(({ isTested }) => isTested).map(({ name }) => name);
    expect(tested.toSorted()).toEqual(FOR_TESTS.toSorted());
  });
});
