import type { MemoryFilter } from "./memories/memory-trust.ts";
import type { MemoryScope } from "./memory-scope.ts";

/** Options of a recall. */
export interface RecallOptions {
  readonly scope?: MemoryScope;
  /** Maximum number of hits; default 10. */
  readonly k?: number;
  /** Minimum score of a hit, relative to the best one; default 0. */
  readonly threshold?: number;
  /** The remembered facts to search; default: those that hold now and were not rejected. Other hits are not affected. */
  readonly memories?: MemoryFilter;
  /** True to leave out entries that were rewound, replaced or removed from their session's line; default false. */
  readonly activeLine?: boolean;
  readonly signal?: AbortSignal;
  /** Maximum time for indexing new entries before the search, default 10 s; the rest is indexed in the background. */
  readonly waitMs?: number;
}
