/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { CompactionResult } from "./compact/compactor.ts";
export { SECTIONS } from "./compact/contract/sections.ts";
export { type ExtractedSummary, extractSummary } from "./compact/extractive/extract-summary.ts";
export type { Kernel, SessionOptions } from "./kernel.ts";
export type { AppendOptions } from "./log/appender.ts";
export type { Blobs } from "./log/blobs.ts";
export type { StoreCheck, StoreDamage } from "./log/check-store.ts";
export type { Draft } from "./log/draft.ts";
export type { ClaimedFact, Facts } from "./log/facts.ts";
export type { Intake, IntakeItem } from "./log/intake.ts";
export type { LiveDraft } from "./log/interrupted-drafts.ts";
export type { Limits } from "./log/limits.ts";
export type { LineStep } from "./log/lines.ts";
export type { PendingEdit, PendingEdits } from "./log/pending-edits.ts";
export type { BodyInput } from "./log/prepare-body.ts";
export type { RestorePart } from "./log/restore-parts.ts";
export type { Embedder } from "./memory/embed/embedder.ts";
export { ollamaEmbedder } from "./memory/embed/ollama-embedder.ts";
export { openAiEmbedder } from "./memory/embed/openai-embedder.ts";
export type { IndexedFiles } from "./memory/files/index-files.ts";
export type { FileHit, Hit, Recall, SessionHit } from "./memory/hit.ts";
export {
  type LegacyPins,
  readLegacyMemories,
  rememberLegacy,
  toLegacyPins,
} from "./memory/memories/legacy-pins.ts";
export type { Memories } from "./memory/memories/memories.ts";
export type { MemoryAuthor, RememberedFact } from "./memory/memories/remembered-fact.ts";
export type { Memory, RecallOptions } from "./memory/memory.ts";
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
export type { Digest } from "./model/blob.ts";
export type { Clock, Ids } from "./model/clock.ts";
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
  type RepairReport,
  repairStore,
} from "./open-kernel.ts";
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
export { type Retry, withRetries } from "./provider/with-retries.ts";
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
export type { SessionRecord } from "./store/session-store.ts";
export type { Store, StoreSize } from "./store/store.ts";
export type { TaskQuery, TaskRecord } from "./store/task-store.ts";
export type { Agent, AgentContext, AgentEvent } from "./task/agent.ts";
export type { TaskDetails, TaskSketch } from "./task/describe-task.ts";
export type { StartOptions, TaskHandle, TaskStatus } from "./task/start-options.ts";
export type { TaskResult } from "./task/task-failure.ts";
export type { Startable, TaskOptions } from "./task/task-options.ts";
export type { OutputOptions, TaskEntry } from "./task/task-output.ts";
export type { Tasks } from "./task/tasks.ts";
export type { Cursor } from "./view/cursor.ts";
export type { EntriesOptions } from "./view/line-entries.ts";
export type { Page, PageOptions } from "./view/page.ts";
export type { RangeOptions } from "./view/range.ts";
export type { TailOptions } from "./view/tail.ts";
export type { FittedWindow, PlannedEdit } from "./window/live/fitted-window.ts";
export type { ReportOptions, SessionWindow } from "./window/live/session-window.ts";
export type { FitOptions, WindowOptions } from "./window/live/session-window-options.ts";
export type { WindowBreakdown } from "./window/live/window-breakdown.ts";
export type { WindowLimits } from "./window/live/window-limits.ts";
export type { ModelFacts } from "./window/models/model-data.ts";
export { modelFacts } from "./window/models/model-facts.ts";
export type { ListedOverlay, Overlays } from "./window/overlays.ts";
export { POLICIES } from "./window/policies/index.ts";
export type { Policy } from "./window/policy.ts";
export type { RecordedMessage } from "./window/replay/recorded-message.ts";
export { type ReplayScore, replay } from "./window/replay/replay-conversation.ts";
export type { Slot } from "./window/slot.ts";
export { estimateMessage, estimateText, tokensOfMessage } from "./window/tokens/estimate.ts";
