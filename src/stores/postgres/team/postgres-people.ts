import type { PeopleStore, RemovedPerson } from "../../../log/store/people-store.ts";
import { toPerson, toPersonToken } from "../../../log/store/record-rows.ts";
import type { AuditAct } from "../../../model/audit.ts";
import { CEILING_PREFIX } from "../../../model/budget.ts";
import type { Person, PersonToken, ProviderSignIn } from "../../../model/person.ts";
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
         t.limit_at, t.subject, t.provider_session,
         p.name, p.role, p.created_at AS person_created_at, p.models, p.upstreams, p.blocked_at
       FROM @person_tokens t JOIN @people p ON p.name = t.person WHERE t.digest = $1`,
      [digest],
    );
    if (!row) return undefined;
    const person = toPerson({ ...row, created_at: row.person_created_at });
    return { token: toPersonToken(row), person };
  }

  async addToken(
    token: PersonToken,
    { person, othersEndAt, allows }: { person?: Person; othersEndAt?: number; allows: boolean },
    act: AuditAct,
  ): Promise<boolean> {
    const blocked = new Error("blocked");
    const adding = this.#change(act, async (sql) => {
      // The row stays locked until the token is there, so that a revocation comes before it or after it.
      const query = "SELECT blocked_at FROM @people WHERE name = $1 FOR UPDATE";
      const [known] = await sql.query(query, [token.person]);
      if (!allows && typeof known?.blocked_at === "number") throw blocked;
      if (person) await this.write(sql, person);
      if (allows) await sql.query("UPDATE @people SET blocked_at = NULL WHERE name = $1", [token.person]);
      await this.writeToken(sql, token);
      if (othersEndAt !== undefined)
        await sql.query(
          `UPDATE @person_tokens SET expires_at = $1
           WHERE person = $2 AND digest <> $3 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)`,
          [othersEndAt, token.person, token.digest],
        );
      return true;
    });
    return adding.catch((error: unknown) => {
      if (error === blocked) return false;
      throw error;
    });
  }

  async endSignIns(wanted: ProviderSignIn | { digest: string }, at: number, act: AuditAct): Promise<number> {
    const { digest, subject, session } = wanted as Partial<ProviderSignIn & { digest: string }>;
    const which = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) AND subject IS NOT NULL
      AND (digest = $2 OR (subject = $3 AND ($4::text IS NULL OR provider_session = $4)))`;
    const values = [at, digest ?? null, subject ?? null, session ?? null];
    const found = await this.#db.query(`SELECT 1 AS one FROM @person_tokens WHERE ${which} LIMIT 1`, values);
    if (found.length === 0) return 0;
    return this.#change(act, async (sql) => {
      const query = `UPDATE @person_tokens SET expires_at = $1 WHERE ${which} RETURNING digest`;
      return (await sql.query(query, values)).length;
    });
  }

  revoke(person: string, at: number, act: AuditAct): Promise<number> {
    return this.#change(act, async (sql) => {
      await sql.query("UPDATE @people SET blocked_at = $1 WHERE name = $2", [at, person]);
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
  async write(sql: Sql, { name, role, createdAt, models, upstreams, blockedAt }: Person): Promise<void> {
    await sql.query(
      `INSERT INTO @people (name, role, created_at, models, upstreams, blocked_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (name) DO UPDATE SET role = excluded.role, models = excluded.models, upstreams = excluded.upstreams`,
      [name, role, createdAt, toListValue(models), toListValue(upstreams), blockedAt ?? null],
    );
  }

  /** Adds or replaces a token inside a transaction of the caller. */
  async writeToken(sql: Sql, token: PersonToken): Promise<void> {
    const { digest, person, createdAt, expiresAt, revokedAt, limitAt, signIn } = token;
    await sql.query(
      `INSERT INTO @person_tokens
         (digest, person, created_at, expires_at, revoked_at, limit_at, subject, provider_session)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (digest) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`,
      [
        ...[digest, person, createdAt, expiresAt ?? null, revokedAt ?? null],
        ...[limitAt ?? null, signIn?.subject ?? null, signIn?.session ?? null],
      ],
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
