import type { SaidMessage } from "../../window/replay/conversation.ts";

/** A message to be summarised; slots of a window will do. */
export interface Told extends SaidMessage {
  /** How it is cited where that is not `#<seq>`. */
  readonly cite?: string | undefined;
  /** True for a message that nobody said: an extract or a summary of before. Its lines may be quoted, nothing else. */
  readonly isNote?: boolean | undefined;
}

/** How a message is cited. */
export function citeOf({ cite, seq }: Told): string {
  return cite ?? `#${seq}`;
}
