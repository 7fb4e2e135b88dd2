import type { SessionId } from "../../kernel/index.ts";
import type { FormatName } from "../port/format.ts";
import type { ProblemItem } from "../reading/item.ts";

/** Number of items by kind. */
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

/** Result of importing one source. */
export interface SourceReport {
  readonly format: FormatName;
  readonly id: string;
  readonly path: string;
  readonly session: SessionId;
  readonly sizeBytes: number;
  /**
   * "planned": dry run; "unchanged": nothing was new; "forgotten": left out, because it was deleted from the store and has
   * not changed since; "refused": left out, because it lies in a working tree and nobody agreed to it; "failed": the source could not be read completely; "stopped": a signal ended the import, stored
   * records stay, and the next import continues from there.
   */
  readonly status: "planned" | "imported" | "unchanged" | "forgotten" | "refused" | "failed" | "stopped";
  /**
   * Records in this read, new or not. A read continues where the last one stopped, so it may not cover the whole
   * source.
   */
  readonly found: Counts;
  /** New records in the log. */
  readonly added: Counts;
  readonly bytesRead: number;
  /** Bytes of the source that were left out because the log already has the same content. */
  readonly copiedBytes: number;
  /** Tool calls without a result in the source. */
  readonly openCalls: number;
  /** Records that could not be kept, and records that were kept incompletely. */
  readonly lost: number;
  readonly damaged: number;
  /** Reason of a failure. */
  readonly error?: string;
}

export interface ImportTotals {
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

/** Result of an import. */
export interface ImportReport {
  readonly sources: readonly SourceReport[];
  readonly formats: Readonly<Partial<Record<FormatName, ImportTotals>>>;
  readonly totals: ImportTotals;
  /** The first 1,000 problems in the order of reading; `totals` counts all. */
  readonly problems: readonly ProblemItem[];
}

export function addCounts(a: Counts, b: Counts): Counts {
  const keys = Object.keys(NO_COUNTS) as (keyof Counts)[];
  return Object.fromEntries(keys.map((key) => [key, a[key] + b[key]])) as unknown as Counts;
}

/** Sums the reports of sources. */
export function sumReports(sources: readonly SourceReport[]): ImportTotals {
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
