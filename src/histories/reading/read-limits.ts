/** Limits on memory, decompression and queries for one source. */
export interface ReadLimits {
  /** Maximum size of a record; longer ones are reported and skipped. */
  readonly maxRecordBytes: number;
  /** Maximum expansion factor of a compressed file, enforced beyond `freeExpansionBytes`. */
  readonly maxExpansion: number;
  readonly freeExpansionBytes: number;
  /** Longest time of one query of a database. */
  readonly maxQueryMs: number;
}

/** Default limits. */
export const READ_LIMITS: ReadLimits = {
  maxRecordBytes: 32 * 1024 * 1024,
  maxExpansion: 200,
  freeExpansionBytes: 64 * 1024 * 1024,
  maxQueryMs: 30_000,
};
