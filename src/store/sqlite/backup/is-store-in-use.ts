import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { resultCodeOf } from "../store-error.ts";

const SQLITE_BUSY = 5;

/** True if another connection of this or any process has the log of a store open. */
export function isStoreInUse(folder: string): boolean {
  const path = join(folder, "log.db");
  if (!existsSync(path)) return false;
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(path);
    // Connections in WAL mode share a lock for as long as they are open; an exclusive one needs all of them gone.
    connection.exec("PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch (error) {
    // A damaged log cannot be in use any more than it can be read.
    return resultCodeOf(error) === SQLITE_BUSY;
  } finally {
    connection?.close();
  }
}
