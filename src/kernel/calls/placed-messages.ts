import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Entry, EntryId, MessageBody, MessageInput } from "../index.ts";
import type { CachedLine } from "./line-cache.ts";

/** A message as a caller passed it. */
export interface CallerMessage {
  /** Builds the message for the log. A method: call it on its message, which may be an object with private fields. */
  input(): MessageInput;
  /** Key of the content: messages with the same key are equal. */
  readonly key: string;
  /** Messages to write before this one if it is new: recalled text, which no caller sends. */
  readonly before?: () => Promise<readonly MessageInput[]>;
}

/** A caller's message with facts about its entry in the log. */
export interface PlacedMessage<G extends CallerMessage> {
  readonly callerMessage: G;
  /** Number of parts in the log; a caller may have dropped reasoning. */
  readonly partCount: number;
}

/** A caller's messages, by their entries in the log. */
export interface PlacedMessages<G extends CallerMessage> {
  readonly byId: Pick<ReadonlyMap<EntryId, PlacedMessage<G>>, "get">;
  /** The same by seq, for entries of the session itself; faster, but not always present. */
  readonly bySeq?: Pick<ReadonlyMap<number, PlacedMessage<G>>, "get">;
  /** The last message; a reply is appended after it. */
  readonly last: EntryId | undefined;
  /** Messages that were appended; absent if something else may have been written between them. */
  readonly written?: readonly Entry<MessageBody>[];
}

/**
 * Pairs the messages of a line with those of the caller. `written` holds the ones just appended. Messages that the line
 * gets later are not included.
 */
export function pairMessages<G extends CallerMessage>(
  line: Pick<CachedLine, "messages" | "placeOf"> & Partial<Pick<CachedLine, "placeOfSeq">>,
  given: readonly G[],
  written?: readonly Entry<MessageBody>[],
): PlacedMessages<G> {
  const at = (place = -1): PlacedMessage<G> | undefined => {
    const message = line.messages[place];
    const own = given[place];
    // Another writer may have changed the line meanwhile; then the message in the log is sent.
    return message && own?.key === message.key
      ? { callerMessage: own, partCount: message.partCount }
      : undefined;
  };
  return {
    byId: { get: (id) => at(line.placeOf(id)) },
    ...(line.placeOfSeq && { bySeq: { get: (seq) => at(line.placeOfSeq?.(seq)) } }),
    last: line.messages.at(-1)?.id,
    ...dropUndefined({ written }),
  };
}

/** True if a caller's messages begin with all messages of a line. */
export function continuesLine({ keys }: Pick<CachedLine, "keys">, given: readonly CallerMessage[]): boolean {
  for (let place = 0; place < keys.length; place++) if (keys[place] !== given[place]?.key) return false;
  return true;
}

/** Like `placed`, for messages appended after the entry `last`; undefined if other messages came in between. */
export function pairMessagesAfter<G extends CallerMessage>(
  line: CachedLine,
  last: EntryId,
  given: readonly G[],
): PlacedMessages<G> | undefined {
  const from = (line.placeOf(last) ?? line.messages.length) + 1;
  const messages = line.messages.slice(from, from + given.length);
  const isRight = given.every(({ key }, index) => messages[index]?.key === key);
  if (!isRight || line.placeOf(last) === undefined) return undefined;
  const placeOf = (id: EntryId) => {
    const at = (line.placeOf(id) ?? -1) - from;
    return at < 0 ? undefined : at;
  };
  const { byId } = pairMessages({ messages, placeOf }, given);
  return { byId, last: messages.at(-1)?.id ?? last };
}
