import type { Message } from "../index.ts";
import type { Slot } from "../window-entry.ts";
import type { ForeignMessage, MessageFormat } from "./foreign-message.ts";

/** Formats of messages that can be fitted without a session. */
export type FittedFormat = MessageFormat | "openai-responses";

/** A conversation in a caller's format, and its window. */
export interface ForeignFit {
  readonly format: FittedFormat;
  /** The messages to send. */
  readonly messages: readonly ForeignMessage[];
  /** The decoded conversation without its leading system messages. */
  readonly plain: readonly Message[];
  /** The system prompt that was counted. */
  readonly system: string | number;
  /** The window over `plain`, whose seqs count from 1; undefined if the messages are sent unchanged. */
  readonly slots: readonly Slot[] | undefined;
}
