import type { Message } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import {
  type BlockFormat,
  type ClientBlock,
  encodeEditedBlock,
  pairClientBlocks,
} from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toObject } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import { type RequestTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import type { ClientMessage, EncodedRequest, LoadBase64, WireObject } from "../wire.ts";
import {
  buildCallPart,
  buildMediaPart,
  buildResponsePart,
  decodeGoogleParts,
  encodeGoogleParts,
  GOOGLE_NAME,
} from "./google-parts.ts";

/**
 * Encodes a conversation as a request of generateContent: `{ systemInstruction, contents }`. Thoughts and raw parts of
 * other formats are left out, and system messages after the first message become the user's.
 */
export async function encodeGoogleRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  const turns = readRequestTurns(messages, source, GOOGLE_NAME);
  const parts: WireObject[] = [];
  let next = await turns.next();
  while (!next.done && next.value.role === "system") {
    parts.push(...(await encodeTurn(next.value, source)));
    next = await turns.next();
  }
  const first = next;
  const rest = async function* () {
    if (!first.done) yield first.value;
    yield* turns;
  };
  return {
    lead: parts.length > 0 ? { systemInstruction: { parts } } : {},
    elements: encodeContents(rest(), source),
  };
}

/** Yields contents of alternating roles; responses directly follow their calls. */
async function* encodeContents(
  turns: AsyncIterable<RequestTurn>,
  source: PartSource,
): AsyncGenerator<WireObject> {
  let role = "";
  let parts: WireObject[] = [];
  for await (const turn of turns) {
    const added = await encodeTurn(turn, source);
    if (added.length === 0) continue;
    const turnRole = turn.role === "assistant" ? "model" : "user";
    if (turnRole !== role && parts.length > 0) {
      yield { role, parts };
      parts = [];
    }
    role = turnRole;
    parts.push(...added);
  }
  if (parts.length > 0) yield { role, parts };
}

async function encodeTurn(turn: RequestTurn, source: PartSource): Promise<readonly WireObject[]> {
  if (turn.role === "missing")
    return turn.calls.map(({ callId, name }) =>
      buildResponsePart({ callId, isError: true }, name, NO_RESULT),
    );
  const encoded: WireObject[] = [];
  for (const piece of turn.pieces) {
    if (!isAccepted(piece.part)) continue;
    const [part] = await encodeGoogleParts([piece.part], source);
    if (!part) continue;
    const response = toObject(part.functionResponse);
    const named =
      response && "callName" in piece
        ? { ...part, functionResponse: { ...response, name: piece.callName } }
        : part;
    encoded.push({ ...named, ...piece.extra });
  }
  return encoded;
}

/** Google refuses empty text and other providers' content; thoughts need its own signature. */
function isAccepted(part: Part): boolean {
  if (part.type === "text") return part.text !== "";
  if (part.type === "raw") return part.format === GOOGLE_NAME;
  return part.type !== "reasoning" || toObject(part.opaque)?.[GOOGLE_NAME] !== undefined;
}

const partFormat: BlockFormat = {
  text: (text) => ({ text }),
  media: buildMediaPart,
  raw: ({ format, value }) => (format === GOOGLE_NAME ? toObject(value) : undefined),
};

/** The content of an edited message or of a note; empty if nothing is left. */
export async function encodeGoogle(
  message: Message,
  own: ClientMessage | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const pieces = pairClientBlocks(element?.parts, decodeGoogleParts(element?.parts).parts, partFormat);
  const parts: unknown[] = [];
  for (const edited of applyPieceEdits(message.parts, own?.original.parts ?? [], pieces)) {
    const part = await encodeEditedPart(edited, base64Of);
    if (part !== undefined) parts.push(part);
  }
  if (parts.length === 0) return [];
  const isSameRole = own !== undefined && message.role === own.original.role;
  const role = isSameRole ? element?.role : message.role === "assistant" ? "model" : "user";
  return [{ ...element, ...(role !== undefined && { role }), parts }];
}

async function encodeEditedPart(edited: EditedPiece<ClientBlock>, base64Of: LoadBase64): Promise<unknown> {
  if (edited.type === "own") return edited.piece.block;
  const { part } = edited;
  const own = edited.type === "changed" ? toObject(edited.piece.block) : undefined;
  if (part.type === "tool-call") {
    const call = toObject(own?.functionCall);
    return call ? { ...own, functionCall: { ...call, args: part.input } } : buildCallPart(part);
  }
  if (part.type !== "tool-result") return encodeEditedBlock(edited, partFormat, base64Of);
  const texts: string[] = [];
  for (const piece of part.output) {
    const block = toObject(await encodeEditedBlock({ type: "new", part: piece }, partFormat, base64Of));
    if (typeof block?.text === "string") texts.push(block.text);
  }
  const response = toObject(own?.functionResponse);
  const field = part.isError ? "error" : "output";
  return response
    ? { ...own, functionResponse: { ...response, response: { [field]: texts.join("\n") } } }
    : buildResponsePart(part, "", texts.join("\n"));
}
