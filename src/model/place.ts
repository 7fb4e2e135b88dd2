/** Identifies one conversation; chosen by the caller or generated. */
export type SessionId = string;

/** Location of an entry. */
export interface Place {
  readonly session: SessionId;
  readonly seq: number;
}
