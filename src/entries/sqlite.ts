export { openSqliteStore, type SqliteStoreOptions } from "../store/sqlite/index.ts";
