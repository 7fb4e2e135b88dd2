export { type Kernel, type KernelOptions, openKernel, type SessionOptions } from "./kernel.ts";
export type { AppendOptions } from "./log/appender.ts";
export type { Blobs } from "./log/blobs.ts";
export type { Draft } from "./log/draft.ts";
export type { Intake, IntakeItem } from "./log/intake.ts";
export type { LiveDraft } from "./log/interrupted.ts";
export { DEFAULT_LIMITS, type Limits } from "./log/limits.ts";
export type { LineStep } from "./log/lines.ts";
export type { PendingEdit, PendingEdits } from "./log/pending-edits.ts";
export type { BodyInput } from "./log/ready-body.ts";
export type { BlobRef, Digest } from "./model/blob.ts";
export type { Clock, Ids } from "./model/clock.ts";
export {
  type Entry,
  type EntryBody,
  type EntryId,
  type EntryKind,
  entryId,
  type LineBody,
  type MessageBody,
  type NoticeBody,
  type OverlayBody,
  type Place,
  parseEntryId,
  type RawBody,
  type RedactedBody,
  type SessionId,
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
export { flatParts, type Message, type MessageInput, type Role, textOfMessage } from "./model/message.ts";
export { sniffMime } from "./model/mime.ts";
export type { Edit, EditInput, EditReason, OverlayTarget } from "./model/overlay.ts";
export type {
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
export type { CensusCount } from "./model/scope.ts";
export type { Usage } from "./model/usage.ts";
export type { DescendantOptions, Session } from "./session.ts";
export type { Head } from "./store/entry-store.ts";
export type { Freed } from "./store/freed.ts";
export type { NewRecord, TakenRecord } from "./store/intake-store.ts";
export type { Relation, SessionRecord } from "./store/session-store.ts";
export type { Store, StoreSize } from "./store/store.ts";
export type { Cursor } from "./view/cursor.ts";
export type { Page, PageOptions } from "./view/page.ts";
export type { RangeOptions } from "./view/range.ts";
export type { TailOptions } from "./view/tail.ts";
export { POLICIES } from "./window/policies/index.ts";
export { LONGHAUL_OPTIONS, type LonghaulOptions, longhaul } from "./window/policies/longhaul.ts";
export type { Budget, Moment, Policy, PolicyRun } from "./window/policy.ts";
export { asConversation, type SaidMessage } from "./window/replay/conversation.ts";
export { PROTOCOL, type Protocol, protocolTokens } from "./window/replay/protocol.ts";
export { type ReplayedRequest, type ReplayScore, type Retention, replay } from "./window/replay/replay.ts";
export type { Slot } from "./window/slot.ts";
