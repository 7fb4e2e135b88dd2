import {
  type RetrieveOptions,
  retrieveContext,
  shouldRetrieve,
  toContextMessage,
  type WindowContent,
} from "../../kernel/faces/memory.ts";
import { estimateText } from "../../kernel/faces/window.ts";
import {
  type EntryId,
  type FittedWindow,
  flattenParts,
  type Memory,
  type MessageInput,
  type SessionId,
  type SessionWindow,
} from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toEntryId } from "./build-prompt.ts";

/** Source and limits of the content recalled for a user message. */
export interface RetrievalOptions extends Omit<RetrieveOptions, "tokensOf" | "shown" | "signal"> {
  /** The kernel's memory. */
  readonly memory: Pick<Memory, "recall">;
}

/**
 * Recalled text to insert before a new user message, delimited and marked as not written by anyone; empty if nothing is
 * found. It becomes part of the log, so that earlier messages stay unchanged and the provider's cache remains valid.
 */
export async function retrieveMessages(
  { memory, ...options }: RetrievalOptions,
  text: string,
  window: Pick<SessionWindow, "look">,
  session: SessionId,
  signal?: AbortSignal,
): Promise<readonly MessageInput[]> {
  // Most messages refer to nothing; for these, skip reading the window.
  if (!shouldRetrieve(text)) return [];
  const found = await retrieveContext(memory, text, {
    ...options,
    tokensOf: estimateText,
    shown: collectShown(await window.look(), session),
    ...dropUndefined({ signal }),
  });
  return found ? [toContextMessage(found)] : [];
}

/** The entries and texts that a window already shows. */
function collectShown({ slots, messages }: FittedWindow, session: SessionId): WindowContent {
  const entries = slots
    .filter(({ isNote, original, message }) => !isNote && (!original || original === message))
    .map((slot): EntryId => toEntryId(slot, session));
  const texts = messages.flatMap((message) =>
    flattenParts(message).flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
  return { entries: new Set(entries), texts };
}
