import type { Message } from "../model/message.ts";

/** One message and its position in a window. */
export interface Slot {
  /**
   * Position of the entry on the line, which equals its seq unless the line was rewound or forked. A note has the
   * position of the first entry it replaces.
   */
  readonly seq: number;
  /** Citation of the entry if it is not `#<seq>`: "<session>#<seq>" for an entry of another session. */
  readonly cite?: string;
  readonly at: number;
  /** The message as the model receives it. */
  readonly message: Message;
  /** The message before edits, if it differs. */
  readonly original?: Message;
  /** The message as logged, if a lasting edit has replaced it in `original`, or the remains of an erased one. */
  readonly logged?: Message;
  /** Estimated tokens of `message`. */
  readonly tokens: number;
  /** True for a message without an entry: a summary or an extract. */
  readonly isNote?: boolean;
}

/** Total tokens of slots. */
export function sumSlotTokens(slots: readonly Slot[]): number {
  let sum = 0;
  for (const { tokens } of slots) sum += tokens;
  return sum;
}
