import type { Fitted, Message, MessageInput } from "../../index.ts";
import type { Api, JsonObject, LoggedBytes } from "../api/api.ts";
import { parsed } from "../body/cut.ts";
import type { WireMessage, WireMessages } from "../body/wire-message.ts";
import { type OutgoingSource, planOutgoing } from "../edits/render.ts";
import { alternatePieces } from "./alternate-pieces.ts";
import type { Piece } from "./outgoing.ts";

/** A conversation rebuilt from the log, for a request that contains only new messages. */
export interface LoggedConversation extends OutgoingSource<WireMessage>, Pick<Fitted, "slots" | "messages"> {
  readonly said: WireMessages;
  /** Instructions that precede all messages. */
  readonly lead: readonly MessageInput[];
}

/** The elements of a fitted window: the client's own messages unchanged, and everything before them from the log. */
export async function piecesFromLog(
  api: Api,
  conversation: LoggedConversation,
  bytes: LoggedBytes,
): Promise<readonly Piece[]> {
  const { slots, said, lead } = conversation;
  const write = (message: Message) => api.writeLogged?.(message, bytes) ?? Promise.resolve([]);
  const edited = async (message: Message, original: Message, own?: readonly JsonObject[]) =>
    api.encode(message, { elements: own ?? (await write(original)), original }, bytes.base64Of);
  const pieces: Piece[] = [];
  const add = (elements: readonly JsonObject[], index?: number) => {
    if (elements.length > 0) pieces.push({ elements, ...(index !== undefined && { index }) });
  };
  for (const message of lead) add(await write(message as Message));
  for (const [place, one] of planOutgoing(conversation).entries()) {
    const { isNote, logged, original = logged } = slots[place] as (typeof slots)[number];
    if (one.type === "same") for (const piece of ownPieces(api, said, one.index)) pieces.push(piece);
    else if (one.type === "changed") {
      const own = elementsAt(api, said, one.index);
      add(await edited(one.message, one.original, own), said.messages[one.index]?.from);
    } else if (isNote) add(await api.encode(one.message, undefined, bytes.base64Of));
    else add(await edited(one.message, logged ?? original ?? one.message));
  }
  return alternatePieces(api.name, said, pieces);
}

/** True if the pieces include messages of the request; another process may have changed the line meanwhile. */
export function saysOwn({ messages }: WireMessages, pieces: readonly Piece[]): boolean {
  return messages.length === 0 || pieces.some((piece) => "from" in piece || piece.index !== undefined);
}

/** A message of the client, unchanged. */
function ownPieces(api: Api, said: WireMessages, index: number): readonly Piece[] {
  const { from = 0, to = 0 } = said.messages[index] ?? {};
  if (to > from) return [{ from, to }];
  return [{ elements: elementsAt(api, said, index), index }];
}

/** The client's elements of a message; plain text counts as one element. */
function elementsAt(api: Api, { cut, messages }: WireMessages, index: number): readonly JsonObject[] {
  const { from = 0, to = 0 } = messages[index] ?? {};
  const range = cut.fields.get(api.messagesField);
  if (to === from)
    return range && cut.listFrom === undefined ? [{ role: "user", content: parsed(cut.bytes, range) }] : [];
  return cut.elements.slice(from, to).map((element) => parsed(cut.bytes, element) as JsonObject);
}
