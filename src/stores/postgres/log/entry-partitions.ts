import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";

/** Sessions per partition of the entries. */
const PARTITION_SESSIONS = 8_192;
/** First half of the advisory lock's key. */
const LOCK_CLASS = 0x4c49;

/**
 * Partitions of the entries by session number, created with the first session of each. Attaching one does not wait for
 * appends to others.
 */
export class EntryPartitions {
  readonly #schema: string;
  /** Partitions that were seen after they had been committed. */
  readonly #known = new Set<number>();

  constructor({ schema }: PostgresDatabase) {
    this.#schema = schema;
  }

  /** Within the transaction that creates the session. */
  async ensure(transaction: Transaction, sessionNumber: number): Promise<void> {
    const partition = Math.floor(sessionNumber / PARTITION_SESSIONS);
    if (this.#known.has(partition)) return;
    const name = `entries_${partition}`;
    if (await this.#exists(transaction, name)) {
      this.#known.add(partition);
      return;
    }
    await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, this.#schema]);
    if (await this.#exists(transaction, name)) return;
    const from = partition * PARTITION_SESSIONS;
    await transaction.execute(`CREATE TABLE "${this.#schema}".${name} (LIKE @entries INCLUDING ALL);
      ALTER TABLE @entries ATTACH PARTITION "${this.#schema}".${name} FOR VALUES FROM (${from}) TO (${from + PARTITION_SESSIONS})`);
  }

  async #exists(transaction: Transaction, name: string): Promise<boolean> {
    // Not to_regclass, which may remember from before the lock that the table was missing.
    const [row] = await transaction.query(
      `SELECT EXISTS (
         SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = $1 AND c.relname = $2
       ) AS found`,
      [this.#schema, name],
    );
    return row?.found === true;
  }
}
