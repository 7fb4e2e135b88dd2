import type { IntakeAppend, IntakeState, IntakeStore, TakenRecord } from "../../log/store/intake-store.ts";
import { toIntakeState, toTakenRecord } from "../../log/store/record-rows.ts";
import { createIntakeConflict, createRecordTaken, findRepeatedRecord } from "../../log/store/refusals.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Database } from "./database.ts";
import type { SessionCache } from "./session-cache.ts";

/** Intakes in SQLite. */
export class Intakes implements IntakeStore {
  readonly #db: Database;
  readonly #cache: SessionCache;
  readonly #statements;

  constructor(db: Database, cache: SessionCache) {
    this.#db = db;
    this.#cache = cache;
    this.#statements = {
      byName: db.prepare(
        "SELECT i.number, i.stamp, i.checkpoint, i.progress, s.id AS session FROM intakes i JOIN sessions s ON s.number = i.session WHERE i.name = ?",
      ),
      insert: db.prepare("INSERT INTO intakes (name, session) VALUES (?, ?)"),
      find: db.prepare("SELECT seq, version FROM intake_records WHERE intake = ? AND record = ?"),
      advance: db.prepare(
        "UPDATE intakes SET stamp = stamp + 1, checkpoint = coalesce(?, checkpoint), progress = coalesce(?, progress) WHERE number = ?",
      ),
      take: db.prepare("INSERT INTO intake_records (intake, record, seq, version) VALUES (?, ?, ?, ?)"),
      replace: db.prepare(
        "INSERT INTO intake_records (intake, record, seq, version) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq, version = excluded.version",
      ),
    };
  }

  async open(name: string, session: SessionId): Promise<IntakeState> {
    const known = await this.get(name);
    if (known) return known;
    return this.#db.transactBeside(() => {
      const row = this.#statements.byName.get(name);
      if (row) return toIntakeState(row);
      this.#statements.insert.run(name, this.#cache.require(session).number);
      return { session, stamp: 0 };
    });
  }

  async get(name: string): Promise<IntakeState | undefined> {
    return this.#db.read(() => {
      const row = this.#statements.byName.get(name);
      return row && toIntakeState(row);
    });
  }

  async find(name: string, records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>> {
    return this.#db.snapshot(() => {
      const taken = new Map<string, TakenRecord>();
      const intake = this.#statements.byName.get(name)?.number as number | undefined;
      if (intake === undefined) return taken;
      for (const record of records) {
        const row = this.#statements.find.get(intake, record);
        if (row) taken.set(record, toTakenRecord(row));
      }
      return taken;
    });
  }

  async save(
    name: string,
    stamp: number,
    saved: Pick<IntakeState, "checkpoint" | "progress">,
  ): Promise<number> {
    return this.#db.transactBeside(() => {
      this.#advance(this.require(name, stamp), saved);
      return stamp + 1;
    });
  }

  /** Within a transaction: the number of the intake; throws INTAKE_CONFLICT unless the append's records are new to it. */
  requireNew(append: IntakeAppend): number {
    const { name, stamp, records } = append;
    const intake = this.require(name, stamp);
    const taken = records.find(
      (record) => record && !record.replaces && this.#statements.find.get(intake, record.id),
    )?.id;
    const repeated = taken ?? findRepeatedRecord(append);
    if (repeated !== undefined) throw createRecordTaken(name, repeated);
    return intake;
  }

  /** Within a transaction: the number of the intake; throws INTAKE_CONFLICT unless its stamp is `stamp`. */
  require(name: string, stamp: number): number {
    const row = this.#statements.byName.get(name);
    if (row?.stamp === stamp) return row.number as number;
    throw createIntakeConflict(name, stamp, row?.stamp as number | undefined);
  }

  /** Within a transaction: stores the records of an append whose first entry is at `firstSeq`. */
  take(intake: number, append: IntakeAppend, firstSeq: number): void {
    this.#advance(intake, append);
    for (const [index, record] of append.records.entries()) {
      if (!record) continue;
      const statement = record.replaces ? this.#statements.replace : this.#statements.take;
      statement.run(intake, record.id, firstSeq + index, record.version ?? null);
    }
  }

  #advance(intake: number, { checkpoint, progress }: Pick<IntakeState, "checkpoint" | "progress">): void {
    this.#statements.advance.run(checkpoint ?? null, progress ?? null, intake);
  }
}
