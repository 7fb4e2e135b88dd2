import type { Format } from "../format.ts";
import type { ReadLimits } from "../reading/limits.ts";
import type { SourceReport } from "./report.ts";

/** How far an import has come. */
export interface ImportProgress {
  /** The source being read, and how many there are. */
  readonly index: number;
  readonly count: number;
  readonly path: string;
  readonly bytesRead: number;
  readonly totalBytes: number;
  readonly messages: number;
}

/** How sources are imported. */
export interface ImportOptions {
  /** Only these formats; all by default. */
  readonly formats?: readonly Format[];
  /** Leave out sources last changed before this time. */
  readonly since?: number;
  /** Read everything and report what would be imported, without writing. */
  readonly dryRun?: boolean;
  readonly limits?: Partial<ReadLimits>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Called as soon as a source is done. */
  readonly onSource?: (report: SourceReport) => void;
}
