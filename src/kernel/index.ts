/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export type { Draft } from "../log/draft.ts";
export type { SessionRecord } from "../log/store/session-store.ts";
export type { Store } from "../log/store/store.ts";
export type { Page, PageOptions } from "../log/view/page.ts";
export {
  type Entry,
  type EntryBody,
  type EntryId,
  type EntryKind,
  formatEntryId,
  type MessageBody,
  parseEntryId,
  type SessionId,
} from "../model/entry.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  isLonghaulError,
  LonghaulError,
} from "../model/errors.ts";
export type { Json } from "../model/json.ts";
export { flattenParts, type Message, type MessageInput, type Role, textOfMessage } from "../model/message.ts";
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
} from "../model/part.ts";
export type { Receipt } from "../model/receipt.ts";
export { isTerminal, TASK_STATES, type TaskId, type TaskNotice, type TaskState } from "../model/task.ts";
export { listCallIds } from "../model/tool-calls.ts";
export type { Usage } from "../model/usage.ts";
export type { Hit, Recall, SessionHit } from "../recall/hit.ts";
export type { Memories } from "../recall/memories/memories.ts";
export type { StoredMemory } from "../recall/memories/stored-memory.ts";
export type { Memory } from "../recall/memory.ts";
export type { MemoryScope } from "../recall/memory-scope.ts";
export type { RecallOptions } from "../recall/recall-options.ts";
export type { Agent, AgentContext, AgentEvent } from "../tasks/agent.ts";
export type { StartOptions, TaskHandle, TaskStatus } from "../tasks/start-options.ts";
export type { TaskResult } from "../tasks/task-failure.ts";
export type { Tasks } from "../tasks/tasks.ts";
export type { CompactionResult } from "../window/compact/compactor.ts";
export type { Overlays } from "../window/overlays.ts";
export type { FittedWindow } from "../window/session/fitted-window.ts";
export type { ReportOptions, SessionWindow } from "../window/session/session-window.ts";
export type { FitOptions } from "../window/session/session-window-options.ts";
export type { GenerateRequest, Generation, Provider } from "../wire/provider/provider.ts";
export { ProviderError } from "../wire/provider/provider-error.ts";
export { withRetries } from "../wire/provider/with-retries.ts";
export type { Kernel, SessionOptions } from "./kernel.ts";
export {
  type KernelOptions,
  openKernel,
  type ProviderSettings,
  type RepairReport,
  repairStore,
} from "./open-kernel.ts";
export type { Session } from "./session/session.ts";
export type { SessionCompactOptions, SessionWindowOptions } from "./session/session-windows.ts";
