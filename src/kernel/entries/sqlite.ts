export { openSqliteStore, type SqliteStoreOptions } from "../../stores/sqlite/index.ts";
