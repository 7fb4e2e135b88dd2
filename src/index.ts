/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export { type ClearedContent, countClearedContent } from "./compact/cleared-content.ts";
export { type ClientEdits, type ClientEditsOptions, clientEdits } from "./compact/client-edits.ts";
export type { CompactionResult } from "./compact/compactor.ts";
export { SECTIONS, type SectionKey } from "./compact/contract/sections.ts";
export {
  buildSummaryPrompt,
  type SummaryPrompt,
  type SummaryRequest,
} from "./compact/contract/summary-prompt.ts";
export {
  type ExtractedSummary,
  type ExtractOptions,
  extractSummary,
} from "./compact/extractive/extract-summary.ts";
export { type GateOptions, type JudgedSummary, judgeSummary } from "./compact/gate/judge-summary.ts";
export type { SummaryVerdict } from "./compact/gate/summary-verdict.ts";
export type { FailedTry, Rung } from "./compact/ladder/run-ladder.ts";
export {
  type CompactCommand,
  findCompactCommand,
  parseCompactCommand,
} from "./compact/plan/parse-compact-command.ts";
export { type SummarizingOptions, summarizingPolicy } from "./compact/summarizing-policy.ts";
export type { Kernel, SessionOptions } from "./kernel.ts";
export type { AppendOptions } from "./log/appender.ts";
export type { Blobs } from "./log/blobs.ts";
export type { CheckOptions, StoreCheck, StoreDamage } from "./log/check-store.ts";
export type { Draft } from "./log/draft.ts";
export type { ClaimedFact, Facts } from "./log/facts.ts";
export type { Intake, IntakeItem } from "./log/intake.ts";
export type { LiveDraft } from "./log/interrupted-drafts.ts";
export { DEFAULT_LIMITS, type Limits } from "./log/limits.ts";
export type { LineStep } from "./log/lines.ts";
export type { PendingEdit, PendingEdits } from "./log/pending-edits.ts";
export type { BodyInput } from "./log/prepare-body.ts";
export type { RestorePart } from "./log/restore-parts.ts";
export type { Embedder, EmbedOptions } from "./memory/embed/embedder.ts";
export { ollamaEmbedder } from "./memory/embed/ollama-embedder.ts";
export { openAiEmbedder } from "./memory/embed/openai-embedder.ts";
export type { IndexedFiles, IndexFilesOptions } from "./memory/files/index-files.ts";
export type { WatchFilesOptions } from "./memory/files/watch-files.ts";
export type { FileHit, Hit, Recall, SessionHit } from "./memory/hit.ts";
export {
  type LegacyPins,
  readLegacyMemories,
  rememberLegacy,
  toLegacyPins,
} from "./memory/memories/legacy-pins.ts";
export type { Memories, MemoriesOptions, MemoriesQuery } from "./memory/memories/memories.ts";
export { joinPinTexts, renderPinSection } from "./memory/memories/pin-section.ts";
export {
  findMemoryAgent,
  type MemoryAuthor,
  type RememberedFact,
} from "./memory/memories/remembered-fact.ts";
export type { ExpandOptions, Memory, RecallOptions } from "./memory/memory.ts";
export type { MemoryScope } from "./memory/memory-scope.ts";
export { AgentMemory, type AgentMemoryDeps } from "./memory/retrieval/agent-memory.ts";
export { buildContextBlock, type ContextBlock, toContextMessage } from "./memory/retrieval/context-block.ts";
export type { WindowContent } from "./memory/retrieval/fresh-hits.ts";
export {
  type RetrievedContext,
  type RetrieveOptions,
  retrieveContext,
} from "./memory/retrieval/retrieve-context.ts";
export { shouldRetrieve, type WantedRetrieval } from "./memory/retrieval/should-retrieve.ts";
export type { BlobRef, Digest } from "./model/blob.ts";
export type { Clock, Ids } from "./model/clock.ts";
export { computeEditDistance, findNearestWords } from "./model/edit-distance.ts";
export {
  type DamagedBody,
  type Entry,
  type EntryBody,
  type EntryId,
  type EntryKind,
  type EntryRef,
  formatEntryId,
  type LineBody,
  type MessageBody,
  type NoticeBody,
  type OverlayBody,
  type PinBody,
  type Place,
  parseEntryId,
  type RawBody,
  type RedactedBody,
  type SessionId,
  type TaskBody,
  type UsageBody,
} from "./model/entry.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  isLonghaulError,
  LonghaulError,
} from "./model/errors.ts";
export type { Json } from "./model/json.ts";
export type { Line, SeqRange } from "./model/line.ts";
export { flattenParts, type Message, type MessageInput, type Role, textOfMessage } from "./model/message.ts";
export { sniffMime } from "./model/mime.ts";
export type { Edit, EditInput, EditReason, OverlayTarget, SingleEdit } from "./model/overlay.ts";
export type {
  BlobInput,
  BlobPart,
  DataPart,
  DataSource,
  Part,
  PartInput,
  RawPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultInput,
  ToolResultPart,
} from "./model/part.ts";
export type { CacheState, Comparison, Receipt } from "./model/receipt.ts";
export type { CensusCount } from "./model/scope.ts";
export {
  isTerminal,
  TASK_STATES,
  type TaskId,
  type TaskNotice,
  type TaskOutcome,
  type TaskPlan,
  type TaskState,
} from "./model/task.ts";
export { listCallIds } from "./model/tool-call-ids.ts";
export type { Usage } from "./model/usage.ts";
export {
  type KernelOptions,
  openKernel,
  type ProviderSettings,
  type RepairReport as Repaired,
  repairStore,
} from "./open-kernel.ts";
export { processCleanups } from "./process/cleanups.ts";
export { runCommand, startCommand } from "./process/run-command.ts";
export { findTagged, listTagged, reapTagged } from "./process/tagged.ts";
export type {
  FinishReason,
  GenerateRequest,
  Generation,
  PromptMessage,
  Provider,
} from "./provider/provider.ts";
export {
  type ErrorReply,
  type FailedCall,
  ProviderError,
  type ProviderErrorCode,
} from "./provider/provider-error.ts";
export type { Timeouts } from "./provider/timeouts.ts";
export { type Retry, type RetryOptions, withRetries } from "./provider/with-retries.ts";
export type { DescendantOptions } from "./session/family.ts";
export type { ChildrenQuery } from "./session/readable-session.ts";
export type { Session } from "./session/session.ts";
export type {
  SessionAutoCompactOptions,
  SessionCompactOptions,
  SessionWindowOptions,
  SummaryModel,
} from "./session/session-windows.ts";
export type { Head } from "./store/entry-store.ts";
export type { FreedCounts } from "./store/freed-counts.ts";
export type { NewRecord, TakenRecord } from "./store/intake-store.ts";
export type { Relation, SessionRecord } from "./store/session-store.ts";
export type { Store, StoreSize } from "./store/store.ts";
export type { TaskQuery, TaskRecord } from "./store/task-store.ts";
export type { AfterStep, EndedTask, Isolation, NoticeChannel } from "./task/after-end.ts";
export type { Agent, AgentCause, AgentContext, AgentEvent, AgentFunction } from "./task/agent.ts";
export { commandChannel } from "./task/channels/command-channel.ts";
export { webhookChannel } from "./task/channels/webhook-channel.ts";
export { cleanUpOnExit } from "./task/clean-up-on-exit.ts";
export { type CommandInputJson, commandAgent } from "./task/command-agent.ts";
export type { TaskDetails, TaskSketch } from "./task/describe-task.ts";
export { reapStep } from "./task/reap-step.ts";
export type { StartOptions, TaskHandle, TaskStatus, WaitOptions } from "./task/start-options.ts";
export type { Startable, TaskOptions } from "./task/task-options.ts";
export type { OutputOptions, TaskEntry } from "./task/task-output.ts";
export type { Tasks } from "./task/tasks.ts";
export { worktreeIsolation } from "./task/worktree-isolation.ts";
export type { Cursor } from "./view/cursor.ts";
export type { EntriesOptions } from "./view/line-entries.ts";
export type { Page, PageOptions } from "./view/page.ts";
export type { RangeOptions } from "./view/range.ts";
export type { TailOptions } from "./view/tail.ts";
export { alternateRoles } from "./window/alternate-roles.ts";
export { diffWindows, type WindowChange } from "./window/diff-windows.ts";
export { type FittedMessages, fitConversation } from "./window/fit-conversation.ts";
export { detectOutputOverflow, detectOverflow, type Overflow } from "./window/limits/overflow.ts";
export type { ProviderFailure } from "./window/limits/provider-failure.ts";
export type { FittedWindow, PlannedEdit } from "./window/live/fitted-window.ts";
export { revertedOverlays } from "./window/live/reverts.ts";
export type { ReportOptions, SessionWindow } from "./window/live/session-window.ts";
export type { FitOptions, WindowOptions } from "./window/live/session-window-options.ts";
export type { WindowBreakdown } from "./window/live/window-breakdown.ts";
export type { LimitOptions, WindowLimits } from "./window/live/window-limits.ts";
export { computeUsageCost } from "./window/models/compute-usage-cost.ts";
export { genaiPrices } from "./window/models/genai-prices.ts";
export type { ModelFacts, Prices } from "./window/models/model-data.ts";
export { modelFacts } from "./window/models/model-facts.ts";
export type { ListedOverlay, Overlays } from "./window/overlays.ts";
export { POLICIES } from "./window/policies/index.ts";
export { LONGHAUL_OPTIONS, type LonghaulOptions, longhaul } from "./window/policies/longhaul.ts";
export type { Budget, Moment, Policy, PolicyRun, ProviderLimits } from "./window/policy.ts";
export { countProtocolTokens, PROTOCOL, type Protocol } from "./window/replay/protocol.ts";
export { type RecordedMessage, toConversation } from "./window/replay/recorded-message.ts";
export {
  type ReplayedRequest,
  type ReplayScore,
  type Retention,
  replay,
} from "./window/replay/replay-conversation.ts";
export type { Slot } from "./window/slot.ts";
export { estimateMessage, estimateText, tokensOfMessage } from "./window/tokens/estimate.ts";
export { loadTokenizer, type Tokenizer, type TokenizerName } from "./window/tokens/tokenizer.ts";
export {
  addReport,
  EMPTY_LEDGER,
  type Ledger,
  type ModelFactsLookup,
  RECENT_REQUESTS,
  type RequestTotals,
  type UsageReport,
} from "./window/usage/ledger.ts";
export { mergeUsage, parseUsageReport, type ReportingApi } from "./window/usage/parse-usage-report.ts";
export { addTotals, NO_TOTALS, type Totals } from "./window/usage/usage-totals.ts";
export {
  type CollectStaleOptions,
  type CollectStaleResult,
  collectStale,
} from "./worktree/collect-stale.ts";
export { createWorktree } from "./worktree/create-worktree.ts";
export { holdWorktree } from "./worktree/hold-worktree.ts";
export { judgeWorktree, type Verdict } from "./worktree/judge-worktree.ts";
export { type Removal, removeIfUnchanged } from "./worktree/remove-worktree.ts";
export { openWorktree, type Worktree } from "./worktree/worktree.ts";
