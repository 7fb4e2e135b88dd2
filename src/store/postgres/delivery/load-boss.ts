import type { Db, PgBoss } from "pg-boss";
import { LonghaulError } from "../../../model/errors.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import { toJobSchema } from "./job-names.ts";

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c4a;
/** How often silent workers are looked for. */
const WATCH_SECONDS = 5;

/** Loads the package pg-boss, which is optional. */
async function loadPgBoss(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (cause) {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      "Queues of tasks over PostgreSQL need the package pg-boss. Install it (npm install pg-boss), or start the task without a queue.",
      { cause, details: { package: "pg-boss" } },
    );
  }
}

/** Starts pg-boss over the connections of a store; it creates or upgrades its schema. */
export async function startBoss(
  db: PostgresDatabase,
  { isWatching, onWarning }: { isWatching: boolean; onWarning: (warning: string) => void },
): Promise<PgBoss> {
  const { PgBoss: Boss } = await loadPgBoss();
  const boss = new Boss({
    db: toBossDatabase(db),
    schema: toJobSchema(db.schema),
    schedule: false,
    supervise: isWatching,
    superviseIntervalSeconds: WATCH_SECONDS,
    monitorIntervalSeconds: WATCH_SECONDS,
    monitorVacuum: false,
  });
  boss.on("error", (error) => onWarning(`Delivering tasks failed: ${error.message}`));
  // One program at a time creates or upgrades the schema; the others find it.
  await db.transact(async (transaction) => {
    await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, db.schema]);
    await boss.start();
  });
  return boss;
}

/** Our connections, or a running transaction of ours, in the form that pg-boss asks for. */
export function toBossDatabase(sql: PostgresDatabase | Transaction): Db {
  return { executeSql: (text, values) => sql.run(text, values) };
}
