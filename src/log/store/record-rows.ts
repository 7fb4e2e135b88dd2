import type { BudgetPeriod, BudgetUnit, TeamBudget } from "../../model/budget.ts";
import type { Person, PersonRole, PersonToken } from "../../model/person.ts";
import type { BudgetUse } from "./budget-store.ts";
import type { IntakeState, TakenRecord } from "./intake-store.ts";
import type { SessionRecord } from "./session-store.ts";
import type { MovedIntake, MovedRecord } from "./transfer-store.ts";

export type RecordRow = Readonly<Record<string, unknown>>;

type Filled<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

/** Omits the columns without a value: a record has a field only if its row has one. */
export function omitEmpty<T extends object>(columns: T): Filled<T> {
  return Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== null && value !== undefined),
  ) as Filled<T>;
}

/** A session as the row of either engine holds it. */
export function toSessionRecord(row: RecordRow): SessionRecord {
  return {
    id: row.id as string,
    createdAt: row.created_at as number,
    lineSeq: row.line_seq as number,
    ...omitEmpty({
      parent: row.parent as string | null,
      relation: row.relation as "child" | "fork" | null,
      title: row.title as string | null,
      meta: parseMeta(row.meta as string | null),
    }),
  };
}

/** Returns undefined for damaged meta, which must not make the session or the list unreadable. */
function parseMeta(text: string | null): SessionRecord["meta"] {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function toIntakeState(row: RecordRow): IntakeState {
  return {
    session: row.session as string,
    stamp: row.stamp as number,
    ...omitEmpty({ checkpoint: row.checkpoint as string | null, progress: row.progress as string | null }),
  };
}

export function toMovedIntake(row: RecordRow): MovedIntake {
  return { name: row.name as string, ...toIntakeState(row) };
}

export function toTakenRecord(row: RecordRow): TakenRecord {
  return { seq: row.seq as number, ...omitEmpty({ version: row.version as string | null }) };
}

export function toMovedRecord(row: RecordRow): MovedRecord {
  return { id: row.record as string, ...toTakenRecord(row) };
}

/** A person as the row of either engine holds it. */
export function toPerson(row: RecordRow): Person {
  const { name, role, created_at: createdAt, models, upstreams, blocked_at: blockedAt } = row;
  return {
    name: name as string,
    role: role as PersonRole,
    createdAt: createdAt as number,
    ...omitEmpty({
      models: parseList(models),
      upstreams: parseList(upstreams),
      blockedAt: blockedAt as number | null,
    }),
  };
}

function parseList(text: unknown): readonly string[] | undefined {
  return typeof text === "string" ? JSON.parse(text) : undefined;
}

export function toPersonToken(row: RecordRow): PersonToken {
  const { digest, person, created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt } = row;
  const { limit_at: limitAt, subject, provider_session: session } = row;
  return {
    digest: digest as string,
    person: person as string,
    createdAt: createdAt as number,
    ...omitEmpty({
      expiresAt: expiresAt as number | null,
      revokedAt: revokedAt as number | null,
      limitAt: limitAt as number | null,
    }),
    ...(typeof subject === "string" && {
      signIn: { subject, ...omitEmpty({ session: session as string | null }) },
    }),
  };
}

export function toBudget({ id, person, project, model, unit, amount, period }: RecordRow): TeamBudget {
  return {
    id: id as string,
    ...omitEmpty({
      person: person as string | null,
      project: project as string | null,
      model: model as string | null,
    }),
    unit: unit as BudgetUnit,
    amount: amount as number,
    period: period as BudgetPeriod,
  };
}

export function toBudgetUse({ budget, start, spent, reserved }: RecordRow): BudgetUse {
  return {
    budget: budget as string,
    start: start as number,
    spent: spent as number,
    reserved: reserved as number,
  };
}
