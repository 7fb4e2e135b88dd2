import { randomInt } from "node:crypto";
import type { AppendOutcome, AppendRequest } from "../../entry-store.ts";
import type { Sql } from "../connection/postgres-database.ts";
import { EntryPlan } from "./entry-plan.ts";

/** A plan that was sent to the server, and the outcomes that it has if it took effect. */
export interface AppendAttempt {
  readonly plan: EntryPlan;
  /** By the index of the request, with the session's number if it gets entries. */
  readonly outcomes: ReadonlyMap<number, { readonly outcome: AppendOutcome; readonly session?: number }>;
  /** True if the attempt took effect in all sessions or in none. */
  readonly isWhole: boolean;
}

/**
 * One call of `append` until each request has its outcome. Attempts whose connection was lost are kept: their entries
 * have the call's token at seqs that the attempt knows, which shows whether they took effect.
 */
export class AppendCall {
  readonly requests: readonly AppendRequest[];
  readonly #now: () => number;
  readonly #token = randomInt(1, 2 ** 48 - 1);
  readonly #outcomes: (AppendOutcome | undefined)[];
  readonly #suspects: AppendAttempt[] = [];

  constructor(requests: readonly AppendRequest[], now: () => number) {
    this.requests = requests;
    this.#now = now;
    this.#outcomes = requests.map(() => undefined);
  }

  createPlan(): EntryPlan {
    return new EntryPlan(this.#token, this.#now);
  }

  /** The requests without an outcome, with their indexes. */
  get open(): readonly (readonly [index: number, request: AppendRequest])[] {
    return [...this.requests.entries()].filter(([index]) => this.#outcomes[index] === undefined);
  }

  /** The outcomes, once none is missing. */
  get outcomes(): readonly AppendOutcome[] {
    return this.#outcomes as readonly AppendOutcome[];
  }

  /** Takes over the outcomes of an attempt that took effect in the given sessions. */
  settle({ outcomes, isWhole }: AppendAttempt, sessions: ReadonlySet<number>): void {
    for (const [index, { outcome, session }] of outcomes) {
      if (isWhole || session === undefined || sessions.has(session)) this.#outcomes[index] ??= outcome;
    }
  }

  /** Keeps an attempt of which nobody knows whether it took effect. */
  suspect(attempt: AppendAttempt): void {
    this.#suspects.push(attempt);
  }

  /**
   * Within a transaction that has locked the sessions: settles what earlier attempts have done after all. While the lock
   * is held, none of them can still be running: it would hold the lock, or find that the head has moved.
   */
  async settleSuspects(sql: Sql): Promise<void> {
    for (const attempt of this.#suspects) {
      const { plan } = attempt;
      if (plan.isEmpty) continue;
      const rows = await sql.query(
        `SELECT e.session FROM unnest($1::bigint[], $2::int[]) AS w (session, seq)
         JOIN @entries e ON e.session = w.session AND e.seq = w.seq WHERE e.token = $3`,
        [plan.sessions, plan.sessions.map((session) => plan.firstSeqOf(session) as number), plan.token],
      );
      if (rows.length > 0) this.settle(attempt, new Set(rows.map(({ session }) => session as number)));
    }
  }
}
