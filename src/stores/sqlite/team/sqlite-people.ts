import type { PeopleStore, RemovedPerson } from "../../../log/store/people-store.ts";
import { toPerson, toPersonToken } from "../../../log/store/record-rows.ts";
import type { AuditAct } from "../../../model/audit.ts";
import { CEILING_PREFIX } from "../../../model/budget.ts";
import type { Person, PersonToken, ProviderSignIn } from "../../../model/person.ts";
import type { Database } from "../database.ts";
import type { SqliteAudit } from "./sqlite-audit.ts";

/** People and tokens in SQLite. */
export class SqlitePeople implements PeopleStore {
  readonly #db: Database;
  readonly #audit: SqliteAudit;
  readonly #statements;

  constructor(db: Database, audit: SqliteAudit) {
    this.#db = db;
    this.#audit = audit;
    this.#statements = {
      list: db.prepare("SELECT * FROM people ORDER BY name"),
      get: db.prepare("SELECT * FROM people WHERE name = ?"),
      put: db.prepare(
        `INSERT INTO people (name, role, created_at, models, upstreams, blocked_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET role = excluded.role, models = excluded.models, upstreams = excluded.upstreams`,
      ),
      isBlocked: db.prepare("SELECT 1 FROM people WHERE name = ? AND blocked_at IS NOT NULL"),
      block: db.prepare("UPDATE people SET blocked_at = ? WHERE name = ?"),
      endSignIns: db.prepare(
        `UPDATE person_tokens SET expires_at = ? WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
           AND subject IS NOT NULL AND (digest = ? OR (subject = ? AND (? IS NULL OR provider_session = ?)))`,
      ),
      tokens: db.prepare("SELECT * FROM person_tokens WHERE person = ? ORDER BY created_at, digest"),
      findToken: db.prepare("SELECT * FROM person_tokens WHERE digest = ?"),
      addToken: db.prepare(
        `INSERT INTO person_tokens
           (digest, person, created_at, expires_at, revoked_at, limit_at, subject, provider_session)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`,
      ),
      endTokens: db.prepare(
        `UPDATE person_tokens SET expires_at = ?
         WHERE person = ? AND digest <> ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
      ),
      revoke: db.prepare(
        `UPDATE person_tokens SET revoked_at = ?
         WHERE person = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
      ),
      removeTokens: db.prepare("DELETE FROM person_tokens WHERE person = ?"),
      removeBudgets: db.prepare("DELETE FROM budgets WHERE person = ?"),
      remove: db.prepare("DELETE FROM people WHERE name = ?"),
      isInUse: db.prepare(
        `SELECT EXISTS (SELECT 1 FROM people)
           OR EXISTS (SELECT 1 FROM budgets WHERE id NOT LIKE '${CEILING_PREFIX}%') AS is_in_use`,
      ),
    };
  }

  list(): Promise<readonly Person[]> {
    return this.#db.read(() => this.#statements.list.all().map(toPerson));
  }

  get(name: string): Promise<Person | undefined> {
    return this.#db.read(() => {
      const row = this.#statements.get.get(name);
      return row && toPerson(row);
    });
  }

  async put(person: Person, act: AuditAct): Promise<void> {
    await this.#db.transactBeside(() => {
      this.write(person);
      this.#audit.record(act);
    });
  }

  tokens(person: string): Promise<readonly PersonToken[]> {
    return this.#db.read(() => this.#statements.tokens.all(person).map(toPersonToken));
  }

  findToken(digest: string): Promise<{ token: PersonToken; person: Person } | undefined> {
    return this.#db.snapshot(() => {
      const row = this.#statements.findToken.get(digest);
      const token = row && toPersonToken(row);
      const person = token && this.#statements.get.get(token.person);
      return token && person && { token, person: toPerson(person) };
    });
  }

  async addToken(
    token: PersonToken,
    { person, othersEndAt, allows }: { person?: Person; othersEndAt?: number; allows: boolean },
    act: AuditAct,
  ): Promise<boolean> {
    return this.#db.transactBeside(() => {
      if (!allows && this.#statements.isBlocked.get(token.person)) return false;
      if (person) this.write(person);
      if (allows) this.#statements.block.run(null, token.person);
      this.writeToken(token);
      if (othersEndAt !== undefined)
        this.#statements.endTokens.run(othersEndAt, token.person, token.digest, othersEndAt);
      this.#audit.record(act);
      return true;
    });
  }

  endSignIns(wanted: ProviderSignIn | { digest: string }, at: number, act: AuditAct): Promise<number> {
    const {
      digest = null,
      subject = null,
      session = null,
    } = wanted as Partial<ProviderSignIn & { digest: string }>;
    return this.#db.transactBeside(() => {
      const { changes } = this.#statements.endSignIns.run(at, at, digest, subject, session, session);
      if (changes > 0) this.#audit.record(act);
      return Number(changes);
    });
  }

  revoke(person: string, at: number, act: AuditAct): Promise<number> {
    return this.#db.transactBeside(() => {
      const { changes } = this.#statements.revoke.run(at, person, at);
      this.#statements.block.run(at, person);
      this.#audit.record(act);
      return Number(changes);
    });
  }

  remove(person: string, act: AuditAct): Promise<RemovedPerson> {
    return this.#db.transactBeside(() => {
      const tokens = Number(this.#statements.removeTokens.run(person).changes);
      const budgets = Number(this.#statements.removeBudgets.run(person).changes);
      const people = Number(this.#statements.remove.run(person).changes);
      this.#audit.record(act);
      return { people, tokens, budgets };
    });
  }

  isInUse(): Promise<boolean> {
    return this.#db.read(() => this.#statements.isInUse.get()?.is_in_use === 1);
  }

  /** Adds or replaces a person inside a transaction of the caller. */
  write({ name, role, createdAt, models, upstreams, blockedAt }: Person): void {
    this.#statements.put.run(
      name,
      role,
      createdAt,
      toListText(models),
      toListText(upstreams),
      blockedAt ?? null,
    );
  }

  /** Adds or replaces a token inside a transaction of the caller. */
  writeToken({ digest, person, createdAt, expiresAt, revokedAt, limitAt, signIn }: PersonToken): void {
    const ends = [expiresAt ?? null, revokedAt ?? null, limitAt ?? null];
    const { subject = null, session = null } = signIn ?? {};
    this.#statements.addToken.run(digest, person, createdAt, ...ends, subject, session);
  }
}

function toListText(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}
