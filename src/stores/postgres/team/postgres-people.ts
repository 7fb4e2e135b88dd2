import type { PeopleStore, RemovedPerson } from "../../../log/store/people-store.ts";
import { toPerson, toPersonToken } from "../../../log/store/record-rows.ts";
import type { AuditAct } from "../../../model/audit.ts";
import { CEILING_PREFIX } from "../../../model/budget.ts";
import type { Person, PersonToken } from "../../../model/person.ts";
import type { PostgresDatabase, Sql } from "../connection/postgres-database.ts";
import type { PostgresAudit } from "./postgres-audit.ts";

/** People and tokens in PostgreSQL. */
export class PostgresPeople implements PeopleStore {
  readonly #db: PostgresDatabase;
  readonly #audit: PostgresAudit;

  constructor(db: PostgresDatabase, audit: PostgresAudit) {
    this.#db = db;
    this.#audit = audit;
  }

  async list(): Promise<readonly Person[]> {
    return (await this.#db.query("SELECT * FROM @people ORDER BY name")).map(toPerson);
  }

  async get(name: string): Promise<Person | undefined> {
    const [row] = await this.#db.query("SELECT * FROM @people WHERE name = $1", [name]);
    return row && toPerson(row);
  }

  async put(person: Person, act: AuditAct): Promise<void> {
    await this.#change(act, (sql) => this.write(sql, person));
  }

  async tokens(person: string): Promise<readonly PersonToken[]> {
    const rows = await this.#db.query(
      "SELECT * FROM @person_tokens WHERE person = $1 ORDER BY created_at, digest",
      [person],
    );
    return rows.map(toPersonToken);
  }

  async findToken(digest: string): Promise<{ token: PersonToken; person: Person } | undefined> {
    const [row] = await this.#db.query(
      `SELECT t.digest, t.person, t.created_at, t.expires_at, t.revoked_at,
         p.name, p.role, p.created_at AS person_created_at, p.models, p.upstreams
       FROM @person_tokens t JOIN @people p ON p.name = t.person WHERE t.digest = $1`,
      [digest],
    );
    if (!row) return undefined;
    const person = toPerson({ ...row, created_at: row.person_created_at });
    return { token: toPersonToken(row), person };
  }

  async addToken(
    token: PersonToken,
    { person, othersEndAt }: { person?: Person; othersEndAt?: number },
    act: AuditAct,
  ): Promise<void> {
    await this.#change(act, async (sql) => {
      if (person) await this.write(sql, person);
      await this.writeToken(sql, token);
      if (othersEndAt === undefined) return;
      await sql.query(
        `UPDATE @person_tokens SET expires_at = $1
         WHERE person = $2 AND digest <> $3 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)`,
        [othersEndAt, token.person, token.digest],
      );
    });
  }

  revoke(person: string, at: number, act: AuditAct): Promise<number> {
    return this.#change(act, async (sql) => {
      const rows = await sql.query(
        `UPDATE @person_tokens SET revoked_at = $1
         WHERE person = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) RETURNING digest`,
        [at, person],
      );
      return rows.length;
    });
  }

  remove(person: string, act: AuditAct): Promise<RemovedPerson> {
    return this.#change(act, async (sql) => {
      const remove = async (table: string, column: string) =>
        (await sql.query(`DELETE FROM ${table} WHERE ${column} = $1 RETURNING 1 AS one`, [person])).length;
      const tokens = await remove("@person_tokens", "person");
      const budgets = await remove("@budgets", "person");
      return { people: await remove("@people", "name"), tokens, budgets };
    });
  }

  async isInUse(): Promise<boolean> {
    const [row] = await this.#db.query(
      `SELECT EXISTS (SELECT 1 FROM @people)
         OR EXISTS (SELECT 1 FROM @budgets WHERE id NOT LIKE '${CEILING_PREFIX}%') AS is_in_use`,
    );
    return row?.is_in_use === true;
  }

  /** Adds or replaces a person inside a transaction of the caller. */
  async write(sql: Sql, { name, role, createdAt, models, upstreams }: Person): Promise<void> {
    await sql.query(
      `INSERT INTO @people (name, role, created_at, models, upstreams) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET role = excluded.role, models = excluded.models, upstreams = excluded.upstreams`,
      [name, role, createdAt, toListValue(models), toListValue(upstreams)],
    );
  }

  /** Adds or replaces a token inside a transaction of the caller. */
  async writeToken(sql: Sql, token: PersonToken): Promise<void> {
    const { digest, person, createdAt, expiresAt, revokedAt } = token;
    await sql.query(
      `INSERT INTO @person_tokens (digest, person, created_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (digest) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`,
      [digest, person, createdAt, expiresAt ?? null, revokedAt ?? null],
    );
  }

  /** The audit log's lock comes first, so that changes do not wait for each other in a circle. */
  #change<T>(act: AuditAct, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#db.transact(async (sql) => {
      await this.#audit.record(sql, act);
      return work(sql);
    });
  }
}

function toListValue(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}
