export { type RepairReport, repairSqliteStore } from "./repair/repair-store.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
