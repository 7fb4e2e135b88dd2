import type { MemoryScope } from "./memory-scope.ts";

/** Options of a recall. */
export interface RecallOptions {
  readonly scope?: MemoryScope;
  /** Maximum number of hits; default 10. */
  readonly k?: number;
  /** Minimum score of a hit, relative to the best one; default 0. */
  readonly threshold?: number;
  readonly signal?: AbortSignal;
  /** Maximum time for indexing new entries before the search, default 10 s; the rest is indexed in the background. */
  readonly waitMs?: number;
}
