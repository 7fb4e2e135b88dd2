import type { Digest } from "../model/blob.ts";
import type { SessionId } from "../model/entry.ts";

/** A message that is still being written. */
export interface DraftRecord {
  readonly id: string;
  readonly session: SessionId;
  /** Who writes it; see log/owner.ts. */
  readonly owner: string;
  /** Last sign of life of the writer. */
  readonly at: number;
  readonly payload: Uint8Array;
}

/** A draft to be written, with the blobs it refers to and the holds they were written under. */
export interface DraftWrite extends DraftRecord {
  readonly blobs?: readonly Digest[];
  readonly holds?: readonly string[];
}

/** The unfinished messages of all sessions. */
export interface DraftStore {
  /** Adds the draft or replaces what was written of it. SESSION_NOT_FOUND if there is no such session. */
  write(draft: DraftWrite): Promise<void>;
  list(session: SessionId): Promise<readonly DraftRecord[]>;
  /** False if there was none. */
  delete(id: string): Promise<boolean>;
}
