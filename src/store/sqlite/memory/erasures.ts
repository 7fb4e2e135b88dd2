import type { SessionId } from "../../../model/entry.ts";
import type { Database } from "../database.ts";

/** Seq that stands for the whole session. */
const WHOLE = 0;

/** Records of pending erasures from the log, so that a crash in between cannot leave their chunks. */
export class Erasures {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      add: db.prepare("INSERT OR IGNORE INTO erasures (session, seq) VALUES (?, ?)"),
      list: db.prepare("SELECT session, seq FROM erasures LIMIT ?"),
      remove: db.prepare("DELETE FROM erasures WHERE session = ? AND seq = ?"),
    };
  }

  async expect(session: SessionId, seqs: readonly number[] = [WHOLE]): Promise<void> {
    await this.#db.transact(() => {
      for (const seq of seqs) this.#statements.add.run(session, seq);
    });
  }

  list(limit: number): Promise<{ session: SessionId; seq?: number }[]> {
    return this.#db.read(() =>
      this.#statements.list.all(limit).map((row) => ({
        session: row.session as string,
        ...(row.seq !== WHOLE && { seq: row.seq as number }),
      })),
    );
  }

  async settle(session: SessionId, seqs: readonly number[] = [WHOLE]): Promise<void> {
    await this.#db.transact(() => {
      for (const seq of seqs) this.#statements.remove.run(session, seq);
    });
  }
}
