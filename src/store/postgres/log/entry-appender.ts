import type { Clock } from "../../../model/clock.ts";
import type { SessionId } from "../../../model/entry.ts";
import { LonghaulError } from "../../../model/errors.ts";
import type { AppendOutcome, AppendRequest } from "../../entry-store.ts";
import { createSessionNotFound } from "../../refusals.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import { classifyFailure, toPostgresError } from "../connection/postgres-error.ts";
import type { LogHead, LogHeads } from "../heads/log-heads.ts";
import { type AppendAttempt, AppendCall } from "./append-call.ts";
import { checkPosition } from "./check-position.ts";
import { type FullAppendDeps, runFullAppend } from "./full-append.ts";

/**
 * Appends groups of requests. Most groups take one statement, which moves each head from the seq that this process last
 * saw and writes the entries. Sessions whose head has moved, and requests that also change drafts, blobs, intakes or
 * tasks, take a transaction that locks the heads.
 */
export class EntryAppender {
  readonly #db: PostgresDatabase;
  readonly #heads: LogHeads;
  readonly #deps: FullAppendDeps;
  readonly #clock: Clock;

  constructor(db: PostgresDatabase, deps: FullAppendDeps, clock: Clock) {
    this.#db = db;
    this.#heads = deps.heads;
    this.#deps = deps;
    this.#clock = clock;
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    const call = new AppendCall(requests, () => this.#clock.now());
    try {
      if (requests.every(isPlain)) await this.#appendAtOnce(call);
      if (call.open.length > 0) await runFullAppend(this.#db, this.#deps, call);
    } catch (error) {
      for (const { session } of requests) this.#heads.forget(session);
      throw error;
    }
    return call.outcomes;
  }

  async #appendAtOnce(call: AppendCall): Promise<void> {
    const heads = await this.#findHeads(call.requests);
    const attempt = planAttempt(call, heads);
    let moved: ReadonlySet<number>;
    try {
      moved = await attempt.plan.write(this.#db.writing);
    } catch (error) {
      const kind = classifyFailure(error);
      if (kind === "final") throw toPostgresError(error, this.#db.where);
      if (kind === "connection") call.suspect(attempt);
      return;
    }
    call.settle(attempt, moved);
    for (const [id, head] of heads) {
      if (moved.has(head.number)) this.#heads.remember(id, head);
      else this.#heads.forget(id);
    }
  }

  /** The last known heads of all sessions; those that are unknown, or that a refusal would rest on, are read. */
  async #findHeads(requests: readonly AppendRequest[]): Promise<Map<SessionId, LogHead>> {
    const heads = new Map<SessionId, LogHead>();
    const unknown = new Set<SessionId>();
    for (const { session, expectedHead } of requests) {
      const known = heads.get(session) ?? this.#heads.recall(session);
      if (!known || (expectedHead !== undefined && !heads.has(session) && known.seq !== expectedHead))
        unknown.add(session);
      else if (!heads.has(session)) heads.set(session, { ...known });
    }
    if (unknown.size === 0) return heads;
    for (const [id, head] of await this.#heads.read(this.#db, [...unknown])) heads.set(id, { ...head });
    return heads;
  }
}

/** True for a request that does nothing but append. */
function isPlain(request: AppendRequest): boolean {
  const { create, finishes, holds, intake, task, entries } = request;
  return (
    !create &&
    finishes === undefined &&
    !holds?.length &&
    !intake &&
    !task &&
    entries.length > 0 &&
    entries.every(({ blobs }) => !blobs?.length)
  );
}

function planAttempt(call: AppendCall, heads: ReadonlyMap<SessionId, LogHead>): AppendAttempt {
  const plan = call.createPlan();
  const outcomes: AppendAttempt["outcomes"] & Map<number, unknown> = new Map();
  for (const [index, request] of call.open) {
    const head = heads.get(request.session);
    try {
      if (!head) throw createSessionNotFound(request.session);
      checkPosition(request, head);
      outcomes.set(index, { outcome: plan.add(request, head), session: head.number });
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      // A refusal that rests on entries of this plan stands or falls with them.
      const isPlanned = head !== undefined && plan.firstSeqOf(head.number) !== undefined;
      outcomes.set(index, { outcome: error, ...(isPlanned && { session: head.number }) });
    }
  }
  return { plan, outcomes, isWhole: false };
}
