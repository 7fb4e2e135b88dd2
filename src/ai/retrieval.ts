import {
  contextMessage,
  type EntryId,
  estimateText,
  type Fitted,
  flatParts,
  type Memory,
  type MessageInput,
  type RetrieveOptions,
  retrieveContext,
  type SessionId,
  type SessionWindow,
  type Shown,
  shouldRetrieve,
} from "../index.ts";
import { idOf } from "./fitted-prompt.ts";

/** Where to look for what a message of the user refers to, and how much of it may be said. */
export interface RetrievalOptions extends Omit<RetrieveOptions, "tokensOf" | "shown" | "signal"> {
  /** The kernel's memory. */
  readonly memory: Pick<Memory, "recall">;
}

/**
 * What is put before a new message of the user: recalled text, delimited, marked as nobody's words, or nothing. It is part
 * of the log from then on, so that all that was sent before stays as it was and the provider's cache holds.
 */
export async function retrieved(
  { memory, ...options }: RetrievalOptions,
  text: string,
  window: Pick<SessionWindow, "look">,
  session: SessionId,
  signal?: AbortSignal,
): Promise<readonly MessageInput[]> {
  // Most messages refer to nothing; for those the window is not even looked at.
  if (!shouldRetrieve(text)) return [];
  const found = await retrieveContext(memory, text, {
    ...options,
    tokensOf: estimateText,
    shown: shownIn(await window.look(), session),
    ...(signal && { signal }),
  });
  return found ? [contextMessage(found)] : [];
}

/** What a window shows already. */
function shownIn({ slots, messages }: Fitted, session: SessionId): Shown {
  const entries = slots
    .filter(({ isNote, original, message }) => !isNote && (!original || original === message))
    .map((slot): EntryId => idOf(slot, session));
  const texts = messages.flatMap((message) =>
    flatParts(message).flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
  return { entries: new Set(entries), texts };
}
