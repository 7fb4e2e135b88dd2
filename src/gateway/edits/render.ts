import type { Given, Placed, PlacedMessage } from "../../conversation/conversation.ts";
import { type EntryId, entryId, type Fitted, type Message, type SessionId, type Slot } from "../../index.ts";

/** A message of a request, and which of them it is. */
export interface GivenMessage extends Given {
  readonly index: number;
  /** True for one that the client did not say again. */
  readonly isLogged?: true;
  /** What goes out in its place. */
  readonly written?: readonly unknown[];
}

/** What goes out in one place of a window. */
export type Outgoing =
  /** A message of the client as it came. */
  | { readonly type: "same"; readonly index: number }
  /** One that was edited; `original` is what the log holds. */
  | {
      readonly type: "changed";
      readonly index: number;
      readonly message: Message;
      readonly original: Message;
    }
  /** One that the client did not send: a summary, an extract, or words of the log that it has no longer. */
  | { readonly type: "note"; readonly message: Message };

/** What a window is written from. */
export interface OutgoingSource<G extends GivenMessage> extends Pick<Fitted, "slots" | "messages"> {
  readonly session: SessionId;
  readonly placed: Placed<G>;
  /** What a message of the log says, as a key like those of the given messages. */
  readonly keyOf: (message: Message) => string;
}

/** True if a window shows just what the client said, so that the request can go out as it came. */
export function isAsSaid<G extends GivenMessage>(
  { slots, parts }: Pick<Fitted, "slots" | "parts">,
  { given, last }: Pick<Placed<G>, "last"> & { readonly given: readonly G[] },
  session: SessionId,
): boolean {
  const end = slots.at(-1);
  // A summary that lasts counts as said.
  if (!end || slots.length !== given.length || parts.summaries > 0) return false;
  if (entryIdOf(end, session) !== last) return false;
  for (const { isNote, original, logged } of slots) if (isNote || original || logged) return false;
  for (const { isLogged, written } of given) if (isLogged || written) return false;
  return true;
}

/** The messages of a fitted window in their order: the client's own wherever nothing was changed. */
export function planOutgoing<G extends GivenMessage>(source: OutgoingSource<G>): readonly Outgoing[] {
  const { slots, messages, keyOf } = source;
  return slots.map((slot, place): Outgoing => {
    const message = messages[place] ?? slot.message;
    const own = slot.isNote ? undefined : ownOf(slot, source);
    if (!own || own.given.isLogged) return { type: "note", message };
    const { given, parts } = own;
    const { index } = given;
    const original = slot.logged ?? slot.original;
    if (original && !isEqual(original, slot.message)) return { type: "changed", index, message, original };
    // A lasting summary stands where the first message was that it stands for.
    const isSame = parts === slot.message.parts.length && given.key === keyOf(slot.message);
    return isSame ? { type: "same", index } : { type: "note", message };
  });
}

/** The caller's message that a slot shows. */
function ownOf<G extends GivenMessage>(
  slot: Slot,
  { placed, session }: Pick<OutgoingSource<G>, "placed" | "session">,
): PlacedMessage<G> | undefined {
  const own = slot.cite === undefined ? placed.bySeq?.get(slot.seq) : undefined;
  return own ?? placed.byId.get(entryIdOf(slot, session));
}

/** The entry that a slot of a session shows. */
export function entryIdOf({ seq, cite }: Pick<Slot, "seq" | "cite">, session: SessionId): EntryId {
  if (cite === undefined) return entryId(session, seq);
  return cite.startsWith("#") ? `${session}${cite}` : cite;
}

/** By all that they say and not by keys: a key may leave out just what was edited, as the input of a call. */
function isEqual(one: Message, other: Message): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
