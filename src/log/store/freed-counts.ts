/** Counts of a deletion. */
export interface FreedCounts {
  readonly sessions: number;
  readonly entries: number;
  readonly payloadBytes: number;
  readonly blobs: number;
  readonly blobBytes: number;
  /**
   * False while bytes of the content are left in the store's files: because a concurrent reader kept old pages in the
   * journal, or in PostgreSQL until a vacuum rewrites the tables.
   */
  readonly scrubbed: boolean;
}

/** The counts with which `addFreed` starts: nothing was freed. */
export const NOTHING_FREED: FreedCounts = {
  sessions: 0,
  entries: 0,
  payloadBytes: 0,
  blobs: 0,
  blobBytes: 0,
  scrubbed: true,
};

export function addFreed(a: FreedCounts, b: FreedCounts): FreedCounts {
  return {
    sessions: a.sessions + b.sessions,
    entries: a.entries + b.entries,
    payloadBytes: a.payloadBytes + b.payloadBytes,
    blobs: a.blobs + b.blobs,
    blobBytes: a.blobBytes + b.blobBytes,
    scrubbed: a.scrubbed && b.scrubbed,
  };
}
