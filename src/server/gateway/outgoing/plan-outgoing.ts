import { isDeepStrictEqual } from "node:util";
import type { CallerMessage, PlacedMessage, PlacedMessages } from "../../../kernel/calls/conversation.ts";
import type { Slot } from "../../../kernel/faces/window.ts";
import {
  type EntryId,
  type FittedWindow,
  formatEntryId,
  type Message,
  type SessionId,
} from "../../../kernel/index.ts";

/** A message of a request, with its index. */
export interface IndexedMessage extends CallerMessage {
  readonly index: number;
  /** True for a message from the log that the client did not repeat. */
  readonly isLogged?: true;
  /** Elements to send in its place. */
  readonly written?: readonly unknown[];
}

/** One position of an outgoing window. */
export type OutgoingSlot =
  /** A message of the client, unchanged. */
  | { readonly type: "same"; readonly index: number }
  /** An edited message; `original` is the logged version. */
  | {
      readonly type: "changed";
      readonly index: number;
      readonly message: Message;
      readonly original: Message;
    }
  /**
   * A message that the client did not send: a summary, an extract, or a logged message that the client no longer has.
   */
  | { readonly type: "note"; readonly message: Message };

/** The input for planning an outgoing window. */
export interface OutgoingSource<G extends IndexedMessage> extends Pick<FittedWindow, "slots" | "messages"> {
  readonly session: SessionId;
  readonly placed: PlacedMessages<G>;
  /** The key of a logged message, comparable to those of the given messages. */
  readonly keyOf: (message: Message) => string;
}

/** True if a window equals the client's messages, so that the request can be sent unchanged. */
export function isUnchangedWindow<G extends IndexedMessage>(
  { slots, parts }: Pick<FittedWindow, "slots" | "parts">,
  { given, last }: Pick<PlacedMessages<G>, "last"> & { readonly given: readonly G[] },
  session: SessionId,
): boolean {
  const end = slots.at(-1);
  // A lasting summary does not count as a note.
  if (!end || slots.length !== given.length || parts.summaries > 0) return false;
  if (getSlotEntry(end, session) !== last) return false;
  for (const { isNote, original, logged } of slots) if (isNote || original || logged) return false;
  for (const { isLogged, written } of given) if (isLogged || written) return false;
  return true;
}

/** The messages of a fitted window in order; unchanged messages are the client's own. */
export function planOutgoing<G extends IndexedMessage>(source: OutgoingSource<G>): readonly OutgoingSlot[] {
  const { slots, messages, keyOf } = source;
  return slots.map((slot, place): OutgoingSlot => {
    const message = messages[place] ?? slot.message;
    const own = slot.isNote ? undefined : findClientMessage(slot, source);
    if (!own || own.callerMessage.isLogged) return { type: "note", message };
    const { callerMessage: given, partCount: parts } = own;
    const { index } = given;
    const original = slot.logged ?? slot.original;
    if (original && !isEqual(original, slot.message)) return { type: "changed", index, message, original };
    // A lasting summary stands at the position of the first message that it replaces.
    const isSame = parts === slot.message.parts.length && given.key === keyOf(slot.message);
    return isSame ? { type: "same", index } : { type: "note", message };
  });
}

/** The client's message that a slot shows. */
function findClientMessage<G extends IndexedMessage>(
  slot: Slot,
  { placed, session }: Pick<OutgoingSource<G>, "placed" | "session">,
): PlacedMessage<G> | undefined {
  const own = slot.cite === undefined ? placed.bySeq?.get(slot.seq) : undefined;
  return own ?? placed.byId.get(getSlotEntry(slot, session));
}

/** The entry that a slot of a session shows. */
export function getSlotEntry({ seq, cite }: Pick<Slot, "seq" | "cite">, session: SessionId): EntryId {
  if (cite === undefined) return formatEntryId(session, seq);
  return cite.startsWith("#") ? `${session}${cite}` : cite;
}

/** Compares whole messages, because keys may omit the edited part, such as the input of a call. */
function isEqual(original: Message, shown: Message): boolean {
  if (original === shown) return true;
  const known = comparisons.get(shown);
  if (known?.original === original) return known.isSame;
  const isSame = isDeepStrictEqual(original, shown);
  comparisons.set(shown, { original, isSame });
  return isSame;
}

/** Results of comparisons: an edited message is sent with every request from then on. */
const comparisons = new WeakMap<Message, { readonly original: Message; readonly isSame: boolean }>();
