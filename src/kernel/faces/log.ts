/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { Blobs } from "../../log/blobs.ts";
export type { SharedLoop, SkippedItem } from "../../log/bulkhead.ts";
export type { StoreCheck, StoreDamage } from "../../log/check-store.ts";
export type { ErasurePlan } from "../../log/erasing/plan-erasure.ts";
export type { ClaimedFact, Facts } from "../../log/facts.ts";
export type { Intake, IntakeItem } from "../../log/intake.ts";
export type { Limits } from "../../log/limits.ts";
export type { LineStep } from "../../log/lines.ts";
export type { CollectedGarbage, Maintenance } from "../../log/maintenance.ts";
export type { BodyInput } from "../../log/prepare-body.ts";
export type { Presence } from "../../log/presence.ts";
export type { FreedCounts } from "../../log/store/freed-counts.ts";
export type { NewRecord, TakenRecord } from "../../log/store/intake-store.ts";
export type { PlaceStore, StoredPlace } from "../../log/store/place-store.ts";
export type { SharedStateStore } from "../../log/store/shared-state-store.ts";
export type { StoreSize } from "../../log/store/store.ts";
export type { Digest } from "../../model/blob.ts";
export type { Clock, Ids } from "../../model/clock.ts";
export type {
  LineBody,
  LineDeparture,
  NoticeBody,
  OverlayBody,
  PinBody,
  Place,
  RawBody,
  UsageBody,
} from "../../model/entry.ts";
export type { Line, SeqRange } from "../../model/line.ts";
export type { DataSource } from "../../model/part.ts";
export type { RequestEnd } from "../../model/request-end.ts";
export type { Monitor } from "../monitor/monitor.ts";
export type { MonitorOptions } from "../monitor/monitor-options.ts";
export type { MonitorEvent, MonitorSample, ReliefReport } from "../monitor/monitor-sample.ts";
export {
  type BackupManifest,
  backupStore,
  type MoveReport,
  migrateStore,
  restoreStore,
  verifyBackup,
} from "../open-kernel.ts";
