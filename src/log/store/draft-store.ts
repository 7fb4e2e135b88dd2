import type { Digest } from "../../model/blob.ts";
import type { SessionId } from "../../model/entry.ts";

/** A message that is still being written. */
export interface DraftRecord {
  readonly id: string;
  readonly session: SessionId;
  /** The writer; see model/base/owner.ts. */
  readonly owner: string;
  /** Last heartbeat of the writer. */
  readonly at: number;
  readonly payload: Uint8Array;
}

/** A draft to write, with the blobs it refers to and their holds. */
export interface DraftWrite extends DraftRecord {
  readonly blobs?: readonly Digest[];
  readonly holds?: readonly string[];
}

/** The unfinished messages of all sessions. */
export interface DraftStore {
  /** Adds or replaces the draft. Throws SESSION_NOT_FOUND if the session does not exist. */
  write(draft: DraftWrite): Promise<void>;
  list(session: SessionId): Promise<readonly DraftRecord[]>;
  /** The sessions that have drafts. */
  sessions(): Promise<readonly SessionId[]>;
  /** Returns false if the draft did not exist. */
  delete(id: string): Promise<boolean>;
}
