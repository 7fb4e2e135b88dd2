import type { SessionId } from "../../index.ts";
import type { FormatName } from "../format.ts";
import type { ProblemItem } from "../item.ts";

/** How much of each kind. */
export interface Counts {
  readonly messages: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly images: number;
  readonly usage: number;
  readonly overlays: number;
  readonly notices: number;
  readonly raw: number;
  /** Conversations of sub-agents. */
  readonly children: number;
}

/** Nothing of any kind. */
export const NO_COUNTS: Counts = {
  messages: 0,
  toolCalls: 0,
  toolResults: 0,
  images: 0,
  usage: 0,
  overlays: 0,
  notices: 0,
  raw: 0,
  children: 0,
};

/** What became of one source. */
export interface SourceReport {
  readonly format: FormatName;
  readonly id: string;
  readonly path: string;
  readonly session: SessionId;
  readonly sizeBytes: number;
  /**
   * "planned" in a dry run; "unchanged" if nothing was new; "failed" if it could not be read (to the end); "stopped" if a
   * signal ended it: what was imported until then is in the store, and the next import goes on from there.
   */
  readonly status: "planned" | "imported" | "unchanged" | "failed" | "stopped";
  /** What this reading met, new or not. Reading goes on where the last one stopped, so this is not the whole source. */
  readonly found: Counts;
  /** What was new and is in the log now. */
  readonly added: Counts;
  readonly bytesRead: number;
  /** Bytes of the source that were left out because the log holds the same elsewhere. */
  readonly copiedBytes: number;
  /** Tool calls whose result was not in the source. */
  readonly openCalls: number;
  /** Records that could not be kept, and records that were kept with something wrong. */
  readonly lost: number;
  readonly damaged: number;
  /** Why it failed. */
  readonly error?: string;
}

/** Sums over sources. */
export interface Totals {
  readonly sources: number;
  readonly failed: number;
  readonly sizeBytes: number;
  readonly bytesRead: number;
  readonly copiedBytes: number;
  readonly lost: number;
  readonly damaged: number;
  readonly openCalls: number;
  readonly found: Counts;
  readonly added: Counts;
}

/** What became of an import. */
export interface ImportReport {
  readonly sources: readonly SourceReport[];
  readonly formats: Readonly<Partial<Record<FormatName, Totals>>>;
  readonly totals: Totals;
  /** The first 1,000 problems, by file and line; `totals` counts all. */
  readonly problems: readonly ProblemItem[];
}

/** The sum of two counts. */
export function addCounts(a: Counts, b: Counts): Counts {
  const keys = Object.keys(NO_COUNTS) as (keyof Counts)[];
  return Object.fromEntries(keys.map((key) => [key, a[key] + b[key]])) as unknown as Counts;
}

/** Sums up sources. */
export function totalsOf(sources: readonly SourceReport[]): Totals {
  const sum = (of: (source: SourceReport) => number) =>
    sources.reduce((total, source) => total + of(source), 0);
  return {
    sources: sources.length,
    failed: sum(({ status }) => (status === "failed" ? 1 : 0)),
    sizeBytes: sum(({ sizeBytes }) => sizeBytes),
    bytesRead: sum(({ bytesRead }) => bytesRead),
    copiedBytes: sum(({ copiedBytes }) => copiedBytes),
    lost: sum(({ lost }) => lost),
    damaged: sum(({ damaged }) => damaged),
    openCalls: sum(({ openCalls }) => openCalls),
    found: sources.reduce((total, { found }) => addCounts(total, found), NO_COUNTS),
    added: sources.reduce((total, { added }) => addCounts(total, added), NO_COUNTS),
  };
}
