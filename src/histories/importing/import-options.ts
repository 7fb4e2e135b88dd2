import type { Format, System } from "../port/format.ts";
import type { ReadLimits } from "../reading/read-limits.ts";
import type { SourceReport } from "./import-report.ts";

/** Progress of an import. */
export interface ImportProgress {
  /** Index of the current source, and the number of sources. */
  readonly index: number;
  readonly count: number;
  readonly path: string;
  readonly bytesRead: number;
  readonly totalBytes: number;
  readonly messages: number;
}

export interface ImportOptions {
  /** Only these formats; all by default. */
  readonly formats?: readonly Format[];
  /** Skip sources last modified before this time. */
  readonly since?: number;
  /** Read everything and report it without writing. */
  readonly dryRun?: boolean;
  /** Also import conversations that were deleted from the store and have not changed since. */
  readonly withForgotten?: boolean;
  /** Also keep the bytes of the conversations' files, so that an agent can get them back unchanged. */
  readonly withOriginals?: boolean;
  /**
   * Decides about a history in a working tree that git does not track; one that git tracks is left out. Without it, all
   * are imported, with the mark of their place.
   */
  readonly mayImportTree?: (path: string, tree: string) => Promise<boolean>;
  /** The computer and its user, whose agents' folders are trusted; this one by default. */
  readonly system?: System;
  readonly limits?: Partial<ReadLimits>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Called after each source. */
  readonly onSource?: (report: SourceReport) => void;
}
