/** Bounds of what one source may make us hold or unpack. */
export interface ReadLimits {
  /** Longest record that is read; longer ones are reported and skipped. */
  readonly maxRecordBytes: number;
  /** Times a compressed file may grow when unpacked, once that is more than `freeExpansionBytes`. */
  readonly maxExpansion: number;
  readonly freeExpansionBytes: number;
}

/** What holds unless the caller says otherwise. */
export const READ_LIMITS: ReadLimits = {
  maxRecordBytes: 32 * 1024 * 1024,
  maxExpansion: 200,
  freeExpansionBytes: 64 * 1024 * 1024,
};
