import type { RecordedMessage } from "../../window/replay/recorded-message.ts";

/** A message to summarize; slots of a window qualify. */
export interface SourceMessage extends RecordedMessage {
  /** Citation, if it is not `#<seq>`. */
  readonly cite?: string | undefined;
  /**
   * True for an extract or an earlier summary, which nobody wrote. Its lines may be quoted but are not used otherwise.
   */
  readonly isNote?: boolean | undefined;
}

export function citeOf({ cite, seq }: SourceMessage): string {
  return cite ?? `#${seq}`;
}
