import type { IntakeAppend, IntakeState, IntakeStore, TakenRecord } from "../../../log/store/intake-store.ts";
import { toIntakeState, toTakenRecord } from "../../../log/store/record-rows.ts";
import { createIntakeConflict, createRecordTaken, findRepeatedRecord } from "../../../log/store/refusals.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import type { LogHeads } from "../heads/log-heads.ts";

const BY_NAME =
  "SELECT i.number, i.stamp, i.checkpoint, i.progress, s.id AS session FROM @intakes i JOIN @sessions s ON s.number = i.session WHERE i.name = $1";

/** Intakes in PostgreSQL. */
export class PostgresIntakes implements IntakeStore {
  readonly #db: PostgresDatabase;
  readonly #heads: LogHeads;

  constructor(db: PostgresDatabase, heads: LogHeads) {
    this.#db = db;
    this.#heads = heads;
  }

  async open(name: string, session: SessionId): Promise<IntakeState> {
    const known = await this.get(name);
    if (known) return known;
    return this.#db.transact(async (transaction) => {
      const number = await this.#heads.requireNumber(transaction, session);
      await transaction.query(
        "INSERT INTO @intakes (name, session) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        [name, number],
      );
      const [row] = await transaction.query(BY_NAME, [name]);
      return toIntakeState(row as SqlRow);
    });
  }

  async get(name: string): Promise<IntakeState | undefined> {
    const [row] = await this.#db.query(BY_NAME, [name]);
    return row && toIntakeState(row);
  }

  async find(name: string, records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>> {
    const rows = await this.#db.query(
      `SELECT r.record, r.seq, r.version FROM unnest($2::text[]) WITH ORDINALITY AS w (record, place)
       JOIN @intakes i ON i.name = $1 JOIN @intake_records r ON r.intake = i.number AND r.record = w.record
       ORDER BY w.place`,
      [name, records],
    );
    return new Map(rows.map((row) => [row.record as string, toTakenRecord(row)]));
  }

  async save(
    name: string,
    stamp: number,
    saved: Pick<IntakeState, "checkpoint" | "progress">,
  ): Promise<number> {
    return this.#db.transact(async (transaction) => {
      await this.#advance(transaction, await this.require(transaction, name, stamp), saved);
      return stamp + 1;
    });
  }

  /** Within a transaction: the number of the intake, locked; throws INTAKE_CONFLICT unless the append's records are new to it. */
  async requireNew(transaction: Transaction, append: IntakeAppend): Promise<number> {
    const { name, stamp, records } = append;
    const intake = await this.require(transaction, name, stamp);
    const fresh = records.flatMap((record) => (record && !record.replaces ? [record.id] : []));
    const [taken] =
      fresh.length === 0
        ? []
        : await transaction.query(
            "SELECT record FROM @intake_records WHERE intake = $1 AND record = ANY($2::text[]) LIMIT 1",
            [intake, fresh],
          );
    const repeated = (taken?.record as string | undefined) ?? findRepeatedRecord(append);
    if (repeated !== undefined) throw createRecordTaken(name, repeated);
    return intake;
  }

  /** Within a transaction: the number of the intake, locked; throws INTAKE_CONFLICT unless its stamp is `stamp`. */
  async require(transaction: Transaction, name: string, stamp: number): Promise<number> {
    const [row] = await transaction.query(`${BY_NAME} FOR UPDATE OF i`, [name]);
    if (row?.stamp === stamp) return row.number as number;
    throw createIntakeConflict(name, stamp, row?.stamp as number | undefined);
  }

  /** Within a transaction: stores the records of an append whose first entry is at `firstSeq`. */
  async take(
    transaction: Transaction,
    intake: number,
    append: IntakeAppend,
    firstSeq: number,
  ): Promise<void> {
    await this.#advance(transaction, intake, append);
    // The last of several versions counts, and one statement must not write a row twice.
    const records = new Map(
      append.records.flatMap((record, index) =>
        record
          ? [[record.id, { record: record.id, seq: firstSeq + index, version: record.version ?? null }]]
          : [],
      ),
    );
    if (records.size === 0) return;
    const rows = [...records.values()];
    await transaction.query(
      `INSERT INTO @intake_records (intake, record, seq, version)
       SELECT $1, * FROM unnest($2::text[], $3::int[], $4::text[])
       ON CONFLICT (intake, record) DO UPDATE SET seq = excluded.seq, version = excluded.version`,
      [
        intake,
        rows.map(({ record }) => record),
        rows.map(({ seq }) => seq),
        rows.map(({ version }) => version),
      ],
    );
  }

  async #advance(
    transaction: Transaction,
    intake: number,
    { checkpoint, progress }: Pick<IntakeState, "checkpoint" | "progress">,
  ): Promise<void> {
    await transaction.query(
      "UPDATE @intakes SET stamp = stamp + 1, checkpoint = coalesce($2, checkpoint), progress = coalesce($3, progress) WHERE number = $1",
      [intake, checkpoint ?? null, progress ?? null],
    );
  }
}
