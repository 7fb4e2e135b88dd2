import { type AppendRequest, type AppendResult, chooseEntryTime } from "../../../log/store/entry-store.ts";
import { toKindNumber } from "../../../log/store/kind-numbers.ts";
import type { WritingSql } from "../connection/postgres-database.ts";
import type { SqlValue } from "../connection/sql-values.ts";
import type { LogHead } from "../heads/log-heads.ts";

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

/** The rows that a group of requests adds, computed from the heads of its sessions. */
export class EntryPlan {
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
      rows.kind.push(toKindNumber(kind));
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

  /** Writes the entries and returns the sessions whose heads have moved; the others have got nothing. */
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
