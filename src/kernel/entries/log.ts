/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export {
  type Blobs,
  backupStore,
  type Clock,
  type Facts,
  type FreedCounts,
  type Ids,
  type Limits,
  type Line,
  type LineStep,
  type Maintenance,
  type Monitor,
  type MonitorOptions,
  type MonitorSample,
  migrateStore,
  restoreStore,
  type StoreCheck,
  verifyBackup,
} from "../faces/log.ts";
