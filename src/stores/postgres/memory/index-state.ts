import type { IndexState } from "../../../log/store/memory-store.ts";
import type { Sql, Transaction } from "../connection/postgres-database.ts";

/** The row that every change of the index locks. */
export interface LockedState {
  readonly stamp: number;
  lastChunk: number;
  lastTerm: number;
  lastSource: number;
}

/** Within a transaction: waits for other writers of the index and keeps them waiting until its end. */
export async function lockIndex(transaction: Transaction): Promise<LockedState> {
  const [row] = await transaction.query(
    "SELECT stamp, last_chunk, last_term, last_source FROM @index_state FOR UPDATE",
  );
  return {
    stamp: row?.stamp as number,
    lastChunk: row?.last_chunk as number,
    lastTerm: row?.last_term as number,
    lastSource: row?.last_source as number,
  };
}

/** Within a transaction that has locked the index. */
export async function saveIndex(transaction: Transaction, state: LockedState): Promise<void> {
  await transaction.query("UPDATE @index_state SET last_chunk = $1, last_term = $2, last_source = $3", [
    state.lastChunk,
    state.lastTerm,
    state.lastSource,
  ]);
}

/** Within a transaction: invalidates caches and texts that were read before. */
export async function stampIndex(transaction: Transaction): Promise<void> {
  await transaction.query("UPDATE @index_state SET stamp = stamp + 1");
}

export async function readIndexState(sql: Sql): Promise<IndexState> {
  const [row] = await sql.query(
    "SELECT stamp, last_chunk, (SELECT coalesce(max(number) + 1, 0) FROM @segments) AS sealed FROM @index_state",
  );
  return {
    lastChunk: row?.last_chunk as number,
    sealed: row?.sealed as number,
    stamp: row?.stamp as number,
  };
}
