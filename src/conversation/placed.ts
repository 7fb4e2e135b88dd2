import type { EntryId, MessageInput } from "../index.ts";
import type { LineSeen } from "./known-line.ts";

/** A message as a caller handed it over. */
export interface Given {
  /** The message as the log takes it; asked for only where the log does not have it yet. */
  readonly input: () => MessageInput;
  /** What it says: messages of the same key say the same. */
  readonly key: string;
  /** What the log gets before it, if it is new: recalled text, which no caller says. */
  readonly before?: () => Promise<readonly MessageInput[]>;
}

/** A caller's message with what the log holds for it. */
export interface PlacedMessage<G extends Given> {
  readonly given: G;
  /** How many parts it has in the log: a caller may have dropped reasoning. */
  readonly parts: number;
}

/** A caller's messages where they are in the log. */
export interface Placed<G extends Given> {
  readonly byId: Pick<ReadonlyMap<EntryId, PlacedMessage<G>>, "get">;
  /** The same for entries of the session itself, by seq; faster, and not always there. */
  readonly bySeq?: Pick<ReadonlyMap<number, PlacedMessage<G>>, "get">;
  /** The last message; a reply comes behind it. */
  readonly last: EntryId | undefined;
}

/** Both are of the same messages. What is appended to the line later has no place in it. */
export function placed<G extends Given>(
  line: Pick<LineSeen, "messages" | "placeOf"> & Partial<Pick<LineSeen, "placeOfSeq">>,
  given: readonly G[],
): Placed<G> {
  const at = (place = -1): PlacedMessage<G> | undefined => {
    const message = line.messages[place];
    const own = given[place];
    // Someone else may have written to the line meanwhile; then the log's own words are sent.
    return message && own?.key === message.key ? { given: own, parts: message.parts } : undefined;
  };
  return {
    byId: { get: (id) => at(line.placeOf(id)) },
    ...(line.placeOfSeq && { bySeq: { get: (seq) => at(line.placeOfSeq?.(seq)) } }),
    last: line.messages.at(-1)?.id,
  };
}

/** The same for what was appended behind an entry; undefined if something else has come between. */
export function placedFrom<G extends Given>(
  line: LineSeen,
  last: EntryId,
  given: readonly G[],
): Placed<G> | undefined {
  const from = (line.placeOf(last) ?? line.messages.length) + 1;
  const messages = line.messages.slice(from, from + given.length);
  const isRight = given.every(({ key }, index) => messages[index]?.key === key);
  if (!isRight || line.placeOf(last) === undefined) return undefined;
  const placeOf = (id: EntryId) => {
    const at = (line.placeOf(id) ?? -1) - from;
    return at < 0 ? undefined : at;
  };
  const { byId } = placed({ messages, placeOf }, given);
  return { byId, last: messages.at(-1)?.id ?? last };
}
