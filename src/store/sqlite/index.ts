export type { BackupManifest } from "./backup/backup-manifest.ts";
export { type BackupOptions, backupSqliteStore } from "./backup/backup-store.ts";
export {
  type RestoreOptions,
  type RestoreReport,
  restoreSqliteStore,
  verifyBackupFolder,
} from "./backup/restore-store.ts";
export { type RepairReport, repairSqliteStore } from "./repair/repair-store.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
