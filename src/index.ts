/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { CompactionResult } from "./compact/compactor.ts";
export type { Kernel, SessionOptions } from "./kernel.ts";
export type { Draft } from "./log/draft.ts";
export type { Hit, Recall, SessionHit } from "./memory/hit.ts";
export type { Memories } from "./memory/memories/memories.ts";
export type { RememberedFact } from "./memory/memories/remembered-fact.ts";
export type { Memory } from "./memory/memory.ts";
export type { MemoryScope } from "./memory/memory-scope.ts";
export type { RecallOptions } from "./memory/recall-options.ts";
export {
  type Entry,
  type EntryBody,
  type EntryId,
  type EntryKind,
  formatEntryId,
  type MessageBody,
  parseEntryId,
  type SessionId,
} from "./model/entry.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  isLonghaulError,
  LonghaulError,
} from "./model/errors.ts";
export type { Json } from "./model/json.ts";
export { flattenParts, type Message, type MessageInput, type Role, textOfMessage } from "./model/message.ts";
export type {
  BlobInput,
  BlobPart,
  DataPart,
  Part,
  PartInput,
  RawPart,
  ReasoningPart,
  ToolCallPart,
  ToolResultInput,
  ToolResultPart,
} from "./model/part.ts";
export type { Receipt } from "./model/receipt.ts";
export { isTerminal, TASK_STATES, type TaskId, type TaskNotice, type TaskState } from "./model/task.ts";
export { listCallIds } from "./model/tool-call-ids.ts";
export type { Usage } from "./model/usage.ts";
export {
  type KernelOptions,
  openKernel,
  type ProviderSettings,
  type RepairReport,
  repairStore,
} from "./open-kernel.ts";
export type { GenerateRequest, Generation, Provider } from "./provider/provider.ts";
export { ProviderError } from "./provider/provider-error.ts";
export { withRetries } from "./provider/with-retries.ts";
export type { Session } from "./session/session.ts";
export type { SessionCompactOptions, SessionWindowOptions } from "./session/session-windows.ts";
export type { SessionRecord } from "./store/session-store.ts";
export type { Store } from "./store/store.ts";
export type { Agent, AgentContext, AgentEvent } from "./task/agent.ts";
export type { StartOptions, TaskHandle, TaskStatus } from "./task/start-options.ts";
export type { TaskResult } from "./task/task-failure.ts";
export type { Tasks } from "./task/tasks.ts";
export type { Page, PageOptions } from "./view/page.ts";
export type { FittedWindow } from "./window/live/fitted-window.ts";
export type { ReportOptions, SessionWindow } from "./window/live/session-window.ts";
export type { FitOptions } from "./window/live/session-window-options.ts";
export type { Overlays } from "./window/overlays.ts";
