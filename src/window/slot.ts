import type { Message } from "../model/message.ts";

/** One message where it stands in a window. */
export interface Slot {
  /** Seq of the entry it stands for; a note's is that of the first entry it stands in place of. */
  readonly seq: number;
  readonly at: number;
  /** As the model gets it. */
  readonly message: Message;
  /** As it was said, where that differs. */
  readonly original?: Message;
  /** Of `message`, as estimated. */
  readonly tokens: number;
  /** True for a message that no entry holds: a summary or an extract. */
  readonly isNote?: boolean;
}
