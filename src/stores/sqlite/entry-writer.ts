import {
  type AppendOutcome,
  type AppendRequest,
  type AppendResult,
  chooseEntryTime,
  type StoredEntry,
} from "../../log/store/entry-store.ts";
import { toKindNumber } from "../../log/store/kind-numbers.ts";
import { createPositionConflict } from "../../log/store/refusals.ts";
import { checkSeqRoom } from "../../log/store/seq-limit.ts";
import type { Clock } from "../../model/clock.ts";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { BlobHolds } from "./blob-holds.ts";
import type { BlobRefs } from "./blob-refs.ts";
import type { Database } from "./database.ts";
import type { Drafts } from "./drafts.ts";
import { toEntryKey } from "./entry-key.ts";
import type { Intakes } from "./intakes.ts";
import { type SessionCache, type SessionState, throwSessionNotFound } from "./session-cache.ts";
import type { SqlitePlaces } from "./sqlite-places.ts";
import type { SqliteSessions } from "./sqlite-sessions.ts";
import type { SqliteTasks } from "./sqlite-tasks.ts";

/** The tables that an append writes to, other than the entries. */
interface EntryWriterDeps {
  readonly cache: SessionCache;
  readonly sessions: SqliteSessions;
  readonly drafts: Drafts;
  readonly refs: BlobRefs;
  readonly holds: BlobHolds;
  readonly intakes: Intakes;
  readonly places: SqlitePlaces;
  readonly tasks: SqliteTasks;
  readonly clock: Clock;
}

/**
 * Executes appends within a write transaction. At its beginning the cache learns whether anybody else has written; from
 * then on cached heads are right, because the lock is held.
 */
export class EntryWriter {
  readonly #deps: EntryWriterDeps;
  readonly #insert;
  readonly #setLine;
  readonly #now = () => this.#deps.clock.now();
  /** The entries of this transaction, to keep in memory after its commit. */
  #written: StoredEntry[] = [];
  #writtenKeys: number[] = [];

  constructor(db: Database, near: EntryWriterDeps) {
    this.#deps = near;
    this.#insert = db.prepare("INSERT INTO entries (key, at, kind, payload) VALUES (?, ?, ?, ?)");
    this.#setLine = db.prepare("UPDATE sessions SET line_seq = ? WHERE number = ?");
  }

  /** Executes the appends of one transaction. */
  appendAll(requests: readonly AppendRequest[]): readonly AppendOutcome[] {
    this.#deps.cache.refresh();
    this.#written = [];
    this.#writtenKeys = [];
    const outcomes: AppendOutcome[] = [];
    for (const request of requests) outcomes.push(this.#append(request));
    return outcomes;
  }

  /** Must be called with each commit, before anything else runs. */
  keepWritten(): void {
    const { hot } = this.#deps.cache;
    for (let index = 0; index < this.#written.length; index++)
      hot.add(this.#writtenKeys[index] as number, this.#written[index] as StoredEntry);
    this.#written = [];
    this.#writtenKeys = [];
  }

  /** Checks every reason for refusal before the first write, so that a refused request changes nothing. */
  #append(request: AppendRequest): AppendOutcome {
    try {
      for (const entry of request.entries) if (entry.blobs) this.#deps.refs.requireAll(entry.blobs);
      if (request.finishes !== undefined) this.#deps.drafts.require(request.finishes);
      if (request.task) this.#deps.tasks.check(request.task);
      const { intake } = request;
      const intakeNumber = intake && this.#deps.intakes.require(intake.name, intake.stamp);
      const appended = this.#write(request, this.#stateFor(request));
      if (intake) this.#deps.intakes.take(intakeNumber as number, intake, appended.firstSeq);
      if (request.task) this.#deps.tasks.apply(request.task, request.session, appended.firstSeq);
      return appended;
    } catch (error) {
      if (error instanceof LonghaulError) return error;
      throw error;
    }
  }

  #stateFor(request: AppendRequest): SessionState {
    const { cache, sessions } = this.#deps;
    const { session, expectedHead, create } = request;
    const state = cache.find(session);
    const headSeq = state?.seq ?? 0;
    if (expectedHead !== undefined && expectedHead !== headSeq) {
      throw createPositionConflict(session, expectedHead, headSeq);
    }
    checkSeqRoom(session, headSeq, request.entries.length);
    if (state) return state;
    if (create) sessions.openWithin(create);
    return cache.find(session) ?? throwSessionNotFound(session);
  }

  #write(request: AppendRequest, state: SessionState): AppendResult {
    const firstSeq = state.seq + 1;
    const ats: number[] = [];
    for (const entry of request.entries) {
      const seq = state.seq + 1;
      const at = chooseEntryTime(entry.at, state.at, this.#now);
      const key = toEntryKey(state.number, seq);
      this.#insert.run(key, at, toKindNumber(entry.kind), entry.payload);
      if (entry.blobs) this.#deps.refs.add(key, entry.blobs);
      if (entry.places) this.#deps.places.add(key, entry.places);
      if (entry.kind === "line") this.#setLineSeq(request.session, state.number, seq);
      state.seq = seq;
      state.at = at;
      ats.push(at);
      this.#written.push({ seq, at, kind: entry.kind, payload: entry.payload });
      this.#writtenKeys.push(key);
    }
    if (request.finishes !== undefined) this.#deps.drafts.deleteWithin(request.finishes);
    if (request.holds) for (const hold of request.holds) this.#deps.holds.release(hold);
    return { firstSeq, ats };
  }

  #setLineSeq(session: SessionId, number: number, seq: number): void {
    this.#setLine.run(seq, number);
    this.#deps.cache.records.forget(session);
  }
}
