import { randomInt } from "node:crypto";
import {
  type AppendOutcome,
  type AppendRequest,
  type AppendResult,
  checkSeqRoom,
  chooseEntryTime,
  KIND_NUMBERS,
} from "../../../log/store/entry-store.ts";
import { createPositionConflict, createSessionNotFound } from "../../../log/store/refusals.ts";
import type { Clock } from "../../../model/clock.ts";
import type { SessionId } from "../../../model/entry.ts";
import { LonghaulError } from "../../../model/errors.ts";
import type { BlobReferences } from "../blobs/blob-references.ts";
import type { PostgresDatabase, Sql, Transaction, WritingSql } from "../connection/postgres-database.ts";
import { classifyFailure, createRetry, toPostgresError } from "../connection/postgres-error.ts";
import type { SqlValue } from "../connection/sql-values.ts";
import type { LogHead, LogHeads } from "../heads/log-heads.ts";
import type { PostgresIntakes } from "../records/postgres-intakes.ts";
import { applyTask, checkTask, type SendTask } from "../records/postgres-tasks.ts";
import type { PostgresDrafts } from "./postgres-drafts.ts";
import type { PostgresSessions } from "./postgres-sessions.ts";

/** The move of one session's head. */
interface HeadMove {
  readonly session: number;
  /** The seq that the plan found. */
  readonly from: number;
  seq: number;
  at: number;
  lineSeq: number | null;
}

/**
 * Writes the entries of a plan in one statement. A head that no longer stands where the plan found it is not moved, and
 * nothing is written to its session. Heads are locked in one order for all. Payloads arrive as one value, because a
 * text of each would double their size.
 */
const WRITE_MANY = `
WITH want AS (
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::int[]) AS w (session, found, seq, at, line_seq)
), locked AS (
  SELECT h.session FROM @heads h JOIN want w ON w.session = h.session AND w.found = h.seq ORDER BY h.session FOR UPDATE OF h
), moved AS (
  UPDATE @heads h SET seq = w.seq, at = w.at, line_seq = coalesce(w.line_seq, h.line_seq)
  FROM want w JOIN locked l ON l.session = w.session
  WHERE h.session = w.session AND h.seq = w.found RETURNING h.session
), written AS (
  INSERT INTO @entries (session, seq, kind, at, token, payload)
  SELECT e.session, e.seq, e.kind, e.at, e.token, substr($13::bytea, e.start, e.size)
  FROM unnest($6::bigint[], $7::int[], $8::smallint[], $9::bigint[], $10::bigint[], $11::int[], $12::int[])
    AS e (session, seq, kind, at, token, start, size)
  WHERE e.session IN (SELECT session FROM moved)
), placed AS (
  INSERT INTO @places (key, session, seq)
  SELECT p.key, p.session, p.seq FROM unnest($14::bytea[], $15::bigint[], $16::int[]) AS p (key, session, seq)
  WHERE p.session IN (SELECT session FROM moved) ON CONFLICT DO NOTHING
)
SELECT session FROM moved`;

/** The same for one entry without keys, the most frequent plan by far. */
const WRITE_ONE = `
WITH moved AS (
  UPDATE @heads SET seq = $3, at = $4, line_seq = coalesce($5::int, line_seq) WHERE session = $1 AND seq = $2 RETURNING session
)
INSERT INTO @entries (session, seq, kind, at, token, payload)
SELECT session, $3, $6, $4, $7, $8 FROM moved`;

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

/** The tables that an append writes to, other than the entries. */
interface FullAppendDeps {
  readonly heads: LogHeads;
  readonly sessions: PostgresSessions;
  readonly drafts: PostgresDrafts;
  readonly references: BlobReferences;
  readonly intakes: PostgresIntakes;
  readonly sendTask: SendTask;
}

/** The state of one transaction that appends. */
interface RunningAppend {
  readonly transaction: Transaction;
  readonly heads: Map<SessionId, LogHead>;
  readonly plan: EntryPlan;
  readonly blobs: { session: number; seq: number; digests: readonly string[] }[];
}

/** Executes the open requests of a call in one transaction, repeated until its outcome is known. */
async function runFullAppend(db: PostgresDatabase, deps: FullAppendDeps, call: AppendCall): Promise<void> {
  let attempt: AppendAttempt | undefined;
  const heads = await db.transact(
    async (transaction) => {
      attempt = undefined;
      const ids = [...new Set(call.open.map(([, { session }]) => session))];
      const running: RunningAppend = {
        transaction,
        heads: await deps.heads.lock(transaction, ids),
        plan: call.createPlan(),
        blobs: [],
      };
      await call.settleSuspects(transaction);
      const outcomes = new Map<number, { outcome: AppendOutcome }>();
      for (const [index, request] of call.open)
        outcomes.set(index, { outcome: await appendOrRefuse(deps, running, request) });
      attempt = { plan: running.plan, outcomes, isWhole: true };
      await writePlan(deps, running);
      return running.heads;
    },
    { onUnknown: () => attempt && call.suspect(attempt) },
  );
  if (attempt) call.settle(attempt, new Set());
  for (const [id, head] of heads) deps.heads.remember(id, head);
}

async function appendOrRefuse(
  deps: FullAppendDeps,
  running: RunningAppend,
  request: AppendRequest,
): Promise<AppendOutcome> {
  try {
    return await append(deps, running, request);
  } catch (error) {
    if (error instanceof LonghaulError) return error;
    throw error;
  }
}

/** Checks every reason for refusal before the first write, so that a refused request changes nothing. */
async function append(deps: FullAppendDeps, running: RunningAppend, request: AppendRequest) {
  const { transaction, plan } = running;
  const { intake, task, finishes } = request;
  await deps.references.requireAll(transaction, [
    ...new Set(request.entries.flatMap(({ blobs }) => blobs ?? [])),
  ]);
  if (finishes !== undefined) await deps.drafts.require(transaction, finishes);
  const checkedTask = task && (await checkTask(transaction, task));
  const intakeNumber = intake && (await deps.intakes.requireNew(transaction, intake));
  const head = await findHead(deps, running, request);
  const appended = plan.add(request, head);
  for (const [index, { blobs }] of request.entries.entries())
    if (blobs?.length)
      running.blobs.push({ session: head.number, seq: appended.firstSeq + index, digests: blobs });
  if (finishes !== undefined) await deps.drafts.finish(transaction, finishes);
  await deps.references.release(transaction, request.holds ?? []);
  if (intake) await deps.intakes.take(transaction, intakeNumber as number, intake, appended.firstSeq);
  if (checkedTask) await applyTask(transaction, checkedTask, head.number, appended.firstSeq, deps.sendTask);
  return appended;
}

/** The locked head of a request's session, which is created if the request says so. */
async function findHead(
  deps: FullAppendDeps,
  { transaction, heads }: RunningAppend,
  request: AppendRequest,
): Promise<LogHead> {
  const known = heads.get(request.session);
  checkPosition(request, known ?? { seq: 0 });
  if (known) return known;
  if (request.create) await deps.sessions.openWithin(transaction, request.create);
  const made = (await deps.heads.lock(transaction, [request.session])).get(request.session);
  if (!made) throw createSessionNotFound(request.session);
  // Made by someone else meanwhile, perhaps with entries.
  checkPosition(request, made);
  heads.set(request.session, made);
  return made;
}

async function writePlan(deps: FullAppendDeps, { transaction, plan, blobs }: RunningAppend): Promise<void> {
  const moved = await plan.write(transaction.writing);
  if (moved.size !== plan.sessions.length) throw createRetry("A locked head has moved");
  await deps.references.addOfEntries(transaction, blobs);
}

/** Throws POSITION_CONFLICT or SESSION_LIMIT. */
function checkPosition(
  { session, expectedHead, entries }: AppendRequest,
  { seq }: { readonly seq: number },
): void {
  if (expectedHead !== undefined && expectedHead !== seq)
    throw createPositionConflict(session, expectedHead, seq);
  checkSeqRoom(session, seq, entries.length);
}

/** A plan that was sent to the server, and the outcomes that it has if it took effect. */
interface AppendAttempt {
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
class AppendCall {
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

/** The rows that a group of requests adds, computed from the heads of its sessions. */
class EntryPlan {
  /** Marks the first entry of each session, so that a writer that lost its connection finds its own entries. */
  readonly token: number;
  readonly #now: () => number;
  readonly #moves = new Map<number, HeadMove>();
  readonly #rows = {
    session: [] as number[],
    seq: [] as number[],
    kind: [] as number[],
    at: [] as number[],
    token: [] as (number | null)[],
    start: [] as number[],
    size: [] as number[],
  };
  readonly #places = { key: [] as Uint8Array[], session: [] as number[], seq: [] as number[] };
  readonly #payloads: Uint8Array[] = [];
  #bytes = 0;

  constructor(token: number, now: () => number) {
    this.token = token;
    this.#now = now;
  }

  /** Adds a request and moves the given head. */
  add(request: AppendRequest, head: LogHead): AppendResult {
    const firstSeq = head.seq + 1;
    const ats: number[] = [];
    let move = this.#moves.get(head.number);
    for (const { kind, at: givenAt, payload, places = [] } of request.entries) {
      const isFirst = move === undefined;
      move ??= { session: head.number, from: head.seq, seq: head.seq, at: head.at, lineSeq: null };
      const at = chooseEntryTime(givenAt, head.at, this.#now);
      head.seq++;
      head.at = at;
      move.seq = head.seq;
      move.at = at;
      if (kind === "line") move.lineSeq = head.seq;
      ats.push(at);
      const rows = this.#rows;
      rows.session.push(head.number);
      rows.seq.push(head.seq);
      rows.kind.push(KIND_NUMBERS[kind]);
      rows.at.push(at);
      rows.token.push(isFirst ? this.token : null);
      // SQL counts from one.
      rows.start.push(this.#bytes + 1);
      rows.size.push(payload.byteLength);
      this.#payloads.push(payload);
      this.#bytes += payload.byteLength;
      for (const key of places) {
        this.#places.key.push(Buffer.from(key, "hex"));
        this.#places.session.push(head.number);
        this.#places.seq.push(head.seq);
      }
    }
    if (move) this.#moves.set(head.number, move);
    return { firstSeq, ats };
  }

  get isEmpty(): boolean {
    return this.#moves.size === 0;
  }

  /** Numbers of the sessions that get entries. */
  get sessions(): readonly number[] {
    return [...this.#moves.keys()];
  }

  /** The seq of the first entry in a session; its row has the token. */
  firstSeqOf(session: number): number | undefined {
    const move = this.#moves.get(session);
    return move && move.from + 1;
  }

  /** Writes the entries and returns the sessions whose heads have moved; the others received nothing. */
  async write(sql: WritingSql): Promise<ReadonlySet<number>> {
    if (this.isEmpty) return new Set();
    if (this.#payloads.length === 1 && this.#places.key.length === 0)
      return new Set((await sql.count(WRITE_ONE, this.#toValuesOfOne())) === 1 ? this.sessions : []);
    const rows = await sql.rows(WRITE_MANY, this.#toValues());
    return new Set(rows.map(({ session }) => session as number));
  }

  #toValuesOfOne(): readonly SqlValue[] {
    const [move] = [...this.#moves.values()] as [HeadMove];
    const [kind, payload] = [this.#rows.kind[0] as number, this.#payloads[0] as Uint8Array];
    return [move.session, move.from, move.seq, move.at, move.lineSeq, kind, this.token, payload];
  }

  #toValues(): readonly SqlValue[] {
    const moves = [...this.#moves.values()].sort((a, b) => a.session - b.session);
    const { session, seq, kind, at, token, start, size } = this.#rows;
    return [
      moves.map((move) => move.session),
      moves.map((move) => move.from),
      moves.map((move) => move.seq),
      moves.map((move) => move.at),
      moves.map((move) => move.lineSeq),
      session,
      seq,
      kind,
      at,
      token,
      start,
      size,
      Buffer.concat(this.#payloads),
      this.#places.key,
      this.#places.session,
      this.#places.seq,
    ];
  }
}
