export {
  type Continuation,
  type ContinuationFile,
  type ContinuationOptions,
  planContinuation,
} from "./continuing/continuation.ts";
export { CONTINUED_AGENTS } from "./continuing/tool-counterparts.ts";
export {
  type AgentHistory,
  type EncryptedHistory,
  examineHistories,
  findEncryptedHistories,
  findLocalSources,
  type HistoryOptions,
} from "./examine-histories.ts";
export { createExportedSession, exportSession, type OnDamage } from "./export-session.ts";
export { type FoundSource, findSources } from "./find-sources.ts";
export { FORMATS } from "./formats.ts";
export { importSources, type Survey, surveySources } from "./import-sources.ts";
export type { AgentProcess } from "./importing/agent-processes.ts";
export { type ConversationCopy, CopyRegister, recordCopies } from "./importing/copies.ts";
export type { ImportOptions, ImportProgress } from "./importing/import-options.ts";
export type { Counts, ImportReport, ImportTotals, SourceReport } from "./importing/import-report.ts";
export { findMixedSessions } from "./importing/source-identity.ts";
export { findSourcePlaces, type SourcePlace } from "./importing/source-places.ts";
export type { Format, FormatName, ImportSource, System } from "./port/format.ts";
export type { KeepingRule } from "./port/keeping-rule.ts";
export type { ExportedSession, OutputPiece, Writer, WriterName } from "./port/writer.ts";
export type * from "./reading/item.ts";
export { READ_LIMITS, type ReadLimits } from "./reading/read-limits.ts";
export { type WatchEvent, type WatchOptions, watchSources } from "./watch-sources.ts";
export { WRITERS } from "./writers.ts";
