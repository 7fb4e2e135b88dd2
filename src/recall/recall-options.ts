import { checkFields } from "../model/argument-checks.ts";
import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import type { MemoryFilter } from "./memories/memory-trust.ts";
import type { MemoryScope } from "./memory-scope.ts";

/** Options of a recall. */
export interface RecallOptions {
  readonly scope?: MemoryScope;
  /** Maximum number of hits; default 10. */
  readonly k?: number;
  /** Has no effect; earlier versions read the best candidates again at "careful". A warning says so. */
  readonly depth?: "quick" | "careful";
  /** Minimum score of a hit, relative to the best one; default 0. */
  readonly threshold?: number;
  /** The memories to search; default: those that hold now and were not rejected. Other hits are not affected. */
  readonly memories?: MemoryFilter;
  /**
   * True to leave out all entries that are not on their session's line, those of other branches too, except messages that
   * a client only trimmed; default false.
   */
  readonly activeLine?: boolean;
  /** True to find messages that were taken back too: rewound, replaced or removed in a live session; default false. */
  readonly rewound?: boolean;
  /**
   * Adds facts for people to each hit, or to this many of the best: its session, its best sentence, files and commit of
   * the work around it.
   */
  readonly details?: boolean | number;
  readonly signal?: AbortSignal;
  /**
   * Maximum time for indexing new entries, and for embedding them in this process, before the search; default 10 s. The
   * rest is done in the background.
   */
  readonly waitMs?: number;
}

/** Throws ARGUMENT_INVALID for options of the wrong kind, and for two that exclude each other. */
export function checkRecallOptions(options: RecallOptions): void {
  checkFields("options", options, {
    threshold: "number?",
    signal: "signal?",
    scope: "object?",
    activeLine: "boolean?",
    rewound: "boolean?",
  });
  if (options.rewound && options.activeLine)
    throw createArgumentError("rewound", true, "false together with activeLine");
}

/** The number of hits that get details; throws ARGUMENT_INVALID for anything but a boolean or a number. */
export function checkDetailedHits(details: unknown): number {
  if (details === undefined || details === false) return 0;
  if (details === true) return Number.POSITIVE_INFINITY;
  if (typeof details !== "number")
    throw createArgumentError("details", details, "true, false, or a number of hits");
  return checkWholeNumber("details", details, 0);
}
