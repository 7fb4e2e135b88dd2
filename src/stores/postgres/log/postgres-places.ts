import type { PlaceStore, StoredPlace, UnplacedSession } from "../../../log/store/place-store.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";

/** Entries of one key that are searched for the last ones of their sessions. */
const MAX_CONSIDERED = 10_000;

/** Keys of entries in PostgreSQL. */
export class PostgresPlaces implements PlaceStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  find(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]> {
    return this.#findWhere("true", limit, keys, limit);
  }

  findLast(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]> {
    const isLast = "NOT EXISTS (SELECT 1 FROM @places l WHERE l.session = o.session AND l.seq > o.seq)";
    return this.#findWhere(isLast, MAX_CONSIDERED, keys, limit);
  }

  async #findWhere(
    condition: string,
    considered: number,
    keys: readonly string[],
    limit: number,
  ): Promise<readonly StoredPlace[]> {
    if (keys.length === 0) return [];
    const rows = await this.#db.query(
      `SELECT encode(k.key, 'hex') AS key, s.id AS session, p.seq
       FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, place) CROSS JOIN LATERAL (
         SELECT o.session, o.seq FROM (
           SELECT c.session, c.seq FROM @places c WHERE c.key = k.key ORDER BY c.session DESC, c.seq DESC LIMIT $3
         ) o WHERE ${condition} ORDER BY o.session DESC, o.seq DESC LIMIT $2
       ) p JOIN @sessions s ON s.number = p.session
       WHERE s.id IS NOT NULL ORDER BY k.place, p.session DESC, p.seq DESC`,
      [keys.map((key) => Buffer.from(key, "hex")), limit, considered],
    );
    return rows.map(({ key, session, seq }) => ({
      key: key as string,
      session: session as string,
      seq: seq as number,
    }));
  }

  async put(places: readonly StoredPlace[]): Promise<void> {
    if (places.length === 0) return;
    await this.#db.transact(async (transaction) => {
      await transaction.query(
        `INSERT INTO @places (key, session, seq)
         SELECT g.key, s.number, g.seq FROM unnest($1::bytea[], $2::text[], $3::int[]) AS g (key, session, seq)
         JOIN @sessions s ON s.id = g.session JOIN @entries e ON e.session = s.number AND e.seq = g.seq
         ON CONFLICT DO NOTHING`,
        [
          places.map(({ key }) => Buffer.from(key, "hex")),
          places.map(({ session }) => session),
          places.map(({ seq }) => seq),
        ],
      );
    });
  }

  async ofSession(session: SessionId): Promise<readonly StoredPlace[]> {
    const rows = await this.#db.query(
      `SELECT encode(p.key, 'hex') AS key, p.seq FROM @places p JOIN @sessions s ON s.number = p.session
       WHERE s.id = $1 ORDER BY p.seq, p.key`,
      [session],
    );
    return rows.map(({ key, seq }) => ({ key: key as string, session, seq: seq as number }));
  }

  async listUnplaced({
    after = 0,
    limit,
  }: {
    after?: number;
    limit: number;
  }): Promise<readonly UnplacedSession[]> {
    const rows = await this.#db.query(
      `SELECT s.number, s.id FROM @sessions s WHERE s.id IS NOT NULL AND s.number > $1
         AND NOT EXISTS (SELECT 1 FROM @places p WHERE p.session = s.number) ORDER BY s.number LIMIT $2`,
      [after, limit],
    );
    return rows.map(({ number, id }) => ({ session: id as string, place: number as number }));
  }
}
