import type { PostgresDatabase } from "../connection/postgres-database.ts";

const MAX_SECONDS = 5;

/** A warning if the clock of this machine is far from that of the database: leases of owners compare such clocks. */
export async function compareClocks(db: PostgresDatabase): Promise<string | undefined> {
  const before = Date.now();
  const [row] = await db.query("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now");
  const now = row?.now as number;
  const seconds = Math.max(before - now, now - Date.now()) / 1_000;
  if (seconds <= MAX_SECONDS) return undefined;
  return `The clock of this machine is ${Math.round(seconds)} s away from that of the database; tasks may be taken from workers that live. Set it (NTP).`;
}
