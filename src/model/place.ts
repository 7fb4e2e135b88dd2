/** Names one conversation; chosen by the caller or generated. */
export type SessionId = string;

/** Where an entry is. */
export interface Place {
  readonly session: SessionId;
  readonly seq: number;
}
