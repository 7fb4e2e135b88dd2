/**
 * What the ledger holds: items that loops left out, digests of erased words, and erasures that are under way. A kind
 * is part of the format on disk.
 */
export type LedgerKind = "skipped" | "erased" | "erasure";

/** A row of the ledger. */
export interface LedgerRow {
  readonly id: string;
  readonly value: string;
}

/** Facts of a store about itself, which belong to no session. */
export interface LedgerStore {
  /** Adds or replaces rows, all or none. */
  put(kind: LedgerKind, rows: readonly LedgerRow[]): Promise<void>;
  /** The rows with these ids, in any order. */
  find(kind: LedgerKind, ids: readonly string[]): Promise<readonly LedgerRow[]>;
  /** Rows by id; `after` is the last id of the previous page. */
  list(
    kind: LedgerKind,
    query: { readonly after?: string; readonly limit: number },
  ): Promise<readonly LedgerRow[]>;
  remove(kind: LedgerKind, ids: readonly string[]): Promise<void>;
  /** A number that changes when somebody has written to the store; absent where that takes a request. */
  peekVersion?(): number;
}

const PAGE = 1_000;

/** All rows of a kind, page by page. */
export async function* listLedger(ledger: LedgerStore, kind: LedgerKind): AsyncGenerator<LedgerRow> {
  for (let after = ""; ; ) {
    const page = await ledger.list(kind, { after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? after;
  }
}
