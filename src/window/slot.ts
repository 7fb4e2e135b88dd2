import type { Message } from "../model/message.ts";

/** One message where it stands in a window. */
export interface Slot {
  /**
   * Place on the line of the entry it stands for, which is its seq unless the line was rewound or forked; a note's is that
   * of the first entry it stands in place of.
   */
  readonly seq: number;
  /** How the entry is cited where that is not `#<seq>`: "<session>#<seq>" for one of another session. */
  readonly cite?: string;
  readonly at: number;
  /** As the model gets it. */
  readonly message: Message;
  /** As it was said, where that differs. */
  readonly original?: Message;
  /** As the log holds it, where a lasting edit has made of it what now counts as said. */
  readonly logged?: Message;
  /** Of `message`, as estimated. */
  readonly tokens: number;
  /** True for a message that no entry holds: a summary or an extract. */
  readonly isNote?: boolean;
}
