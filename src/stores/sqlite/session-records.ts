import { toSessionRecord } from "../../log/store/record-rows.ts";
import type { KnownRecord, SessionRecord } from "../../log/store/session-store.ts";
import { BoundedMap } from "../../model/base/bounded-map.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Database, Row } from "./database.ts";

/** Columns and tables of a row that `toSessionRecord` converts. */
export const RECORD_COLUMNS =
  "s.number, s.id, p.id AS parent, s.relation, s.created_at, s.title, s.meta, s.line_seq";
export const RECORD_TABLES = "sessions s LEFT JOIN sessions p ON p.number = s.parent";

const MAX_BYTES = 2 * 1024 * 1024;
/** Approximate memory of a record without title and meta. */
const RECORD_BYTES = 400;

/** A record with its size; without one, the session does not exist. */
interface CachedRecord extends KnownRecord {
  readonly sizeBytes: number;
}

/** The records of the sessions in use, including those of ids without a session. Its owner keeps it current. */
export class SessionRecords {
  readonly #records = new BoundedMap<SessionId, CachedRecord>({
    max: MAX_BYTES,
    weigh: ({ sizeBytes }, id) => sizeBytes + id.length,
  });
  readonly #byId;

  constructor(db: Database) {
    this.#byId = db.prepare(`SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id = ?`);
  }

  get sizeBytes(): number {
    return this.#records.weight;
  }

  /** The record in memory; undefined if nothing is known about the session. */
  peek(id: SessionId): KnownRecord | undefined {
    return this.#records.use(id);
  }

  /** Reads a record and keeps it. */
  read(id: SessionId): SessionRecord | undefined {
    const row = this.#byId.get(id);
    const record = row && freezeRecord(toSessionRecord(row));
    const sizeBytes = RECORD_BYTES + (record ? measureRow(row) : 0);
    this.#records.set(id, { record, sizeBytes });
    return record;
  }

  /** Keeps a record that was just written; `meta` is the stored text, so that nobody else holds its objects. */
  keep(written: SessionRecord, meta: string | null): void {
    const { id, parent, relation, createdAt, title, lineSeq } = written;
    const record = freezeRecord(
      toSessionRecord({
        id,
        parent,
        relation,
        created_at: createdAt,
        title: title?.toWellFormed(),
        meta,
        line_seq: lineSeq,
      }),
    );
    const sizeBytes = RECORD_BYTES + (title?.length ?? 0) + (meta?.length ?? 0) * 4;
    this.#records.set(id, { record, sizeBytes });
  }

  forget(id: SessionId): void {
    this.#records.delete(id);
  }

  clear(): void {
    this.#records.clear();
  }
}

function measureRow(row: Row): number {
  return ((row.title as string | null)?.length ?? 0) + ((row.meta as string | null)?.length ?? 0) * 4;
}

/** Many readers share a cached record, so none may change it. */
function freezeRecord(record: SessionRecord): SessionRecord {
  if (record.meta) freezeJson(record.meta);
  return Object.freeze(record);
}

function freezeJson(value: Json | { readonly [key: string]: Json }): void {
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) freezeJson(item as Json);
  Object.freeze(value);
}
