/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { CacheSize, DroppableCache } from "./base/cache-registry.ts";
export type { SizedCount } from "./base/work-meter.ts";
export type { Blobs } from "./log/blobs.ts";
export type { StoreCheck, StoreDamage } from "./log/check-store.ts";
export type { CollectedGarbage } from "./log/collect-garbage.ts";
export type { ClaimedFact, Facts } from "./log/facts.ts";
export type { Intake, IntakeItem } from "./log/intake.ts";
export type { LiveDraft } from "./log/interrupted-drafts.ts";
export type { Limits } from "./log/limits.ts";
export type { LineStep } from "./log/lines.ts";
export type { Maintenance } from "./log/maintenance.ts";
export type { PendingEdit, PendingEdits } from "./log/pending-edits.ts";
export type { BodyInput } from "./log/prepare-body.ts";
export type { RestorePart } from "./log/restore-parts.ts";
export type { Digest } from "./model/blob.ts";
export type { Clock, Ids } from "./model/clock.ts";
export type {
  DamagedBody,
  LineBody,
  LineDeparture,
  NoticeBody,
  OverlayBody,
  PinBody,
  Place,
  RawBody,
  RedactedBody,
  TaskBody,
  UsageBody,
} from "./model/entry.ts";
export type { Line, SeqRange } from "./model/line.ts";
export type { DataSource } from "./model/part.ts";
export type { RequestEnd } from "./model/request-end.ts";
export type { Monitor } from "./monitor/monitor.ts";
export type { MonitorNote, MonitorPoint, MonitorRecord } from "./monitor/monitor-history.ts";
export type { MonitorOptions } from "./monitor/monitor-options.ts";
export type { MonitorEvent, MonitorSample, PressureLevel, ReliefReport } from "./monitor/monitor-sample.ts";
export {
  type BackupManifest,
  type BackupOptions,
  backupStore,
  type MoveOptions,
  type MoveProgress,
  type MoveReport,
  migrateStore,
  type RestoreOptions,
  type RestoreReport,
  restoreStore,
  verifyBackup,
} from "./open-kernel.ts";
export type { CollectOptions } from "./store/blob-store.ts";
export type { Head } from "./store/entry-store.ts";
export type { FreedCounts } from "./store/freed-counts.ts";
export type { NewRecord, TakenRecord } from "./store/intake-store.ts";
export type { SessionSize } from "./store/session-store.ts";
export type { NamedState, SharedStateStore } from "./store/shared-state-store.ts";
export type { StoreInspection, StoreSize } from "./store/store.ts";
export type { RangeOptions } from "./view/range.ts";
