import type { FittedWindow, Message, MessageInput } from "../../index.ts";
import type { LoggedContent, Wire, WireObject } from "../../wire/wire.ts";
import { type OutgoingPiece, parseRange } from "../request/cut-body.ts";
import type { RequestMessage, RequestMessages } from "../request/request-messages.ts";
import { alternatePieces } from "./alternate-pieces.ts";
import { type OutgoingSource, planOutgoing } from "./plan-outgoing.ts";

/** A conversation rebuilt from the log, for a request that contains only new messages. */
interface LoggedConversation
  extends OutgoingSource<RequestMessage>,
    Pick<FittedWindow, "slots" | "messages"> {
  readonly client: RequestMessages;
  /** Instructions that precede all messages. */
  readonly lead: readonly MessageInput[];
}

/** The elements of a fitted window: the client's own messages unchanged, and everything before them from the log. */
export async function buildPiecesFromLog(
  api: Wire,
  conversation: LoggedConversation,
  bytes: LoggedContent,
): Promise<readonly OutgoingPiece[]> {
  const { slots, client: messages, lead } = conversation;
  const write = (message: Message) => api.encodeLogged?.(message, bytes) ?? Promise.resolve([]);
  const edited = async (message: Message, original: Message, own?: readonly WireObject[]) =>
    api.encodeEdited(message, { elements: own ?? (await write(original)), original }, bytes.loadBase64);
  const pieces: OutgoingPiece[] = [];
  const add = (elements: readonly WireObject[], index?: number) => {
    if (elements.length > 0) pieces.push({ elements, ...(index !== undefined && { index }) });
  };
  for (const message of lead) add(await write(message as Message));
  for (const [place, one] of planOutgoing(conversation).entries()) {
    const { isNote, logged, original = logged } = slots[place] as (typeof slots)[number];
    if (one.type === "same")
      for (const piece of buildClientPieces(api, messages, one.index)) pieces.push(piece);
    else if (one.type === "changed") {
      const own = getClientElements(api, messages, one.index);
      add(await edited(one.message, one.original, own), messages.list[one.index]?.from);
    } else if (isNote) add(await api.encodeEdited(one.message, undefined, bytes.loadBase64));
    else add(await edited(one.message, logged ?? original ?? one.message));
  }
  return alternatePieces(api.name, messages, pieces);
}

/** True if the pieces include messages of the request; another process may have changed the line meanwhile. */
export function hasClientPieces({ list }: RequestMessages, pieces: readonly OutgoingPiece[]): boolean {
  return list.length === 0 || pieces.some((piece) => "from" in piece || piece.index !== undefined);
}

/** A message of the client, unchanged. */
function buildClientPieces(api: Wire, messages: RequestMessages, index: number): readonly OutgoingPiece[] {
  const { from = 0, to = 0 } = messages.list[index] ?? {};
  if (to > from) return [{ from, to }];
  return [{ elements: getClientElements(api, messages, index), index }];
}

/** The client's elements of a message; plain text counts as one element. */
function getClientElements(api: Wire, { cut, list }: RequestMessages, index: number): readonly WireObject[] {
  const { from = 0, to = 0 } = list[index] ?? {};
  const range = cut.fields.get(api.messagesField);
  if (to === from)
    return range && cut.listFrom === undefined
      ? [{ role: "user", content: parseRange(cut.bytes, range) }]
      : [];
  return cut.elements.slice(from, to).map((element) => parseRange(cut.bytes, element) as WireObject);
}
