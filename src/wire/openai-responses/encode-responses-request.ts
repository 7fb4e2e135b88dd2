import type { Message } from "../../model/message.ts";
import type { PartSource } from "../part-source.ts";
import { type RequestTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import type { EncodedRequest, WireObject } from "../wire.ts";
import { OPENAI_RESPONSES_NAME } from "./decode-responses.ts";
import { encodeMessageItems, encodeOutputItem, getResponsesMeta } from "./encode-responses-items.ts";

/**
 * Encodes a conversation as a request of the Responses API: `{ instructions?, input }`. A failed tool's output begins
 * with "[tool error]". Empty reasoning, reasoning of other formats without OpenAI's ciphertext, and raw parts of other
 * formats are left out.
 */
export async function encodeResponsesRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  const turns = readRequestTurns(messages, source, OPENAI_RESPONSES_NAME);
  const first = await turns.next();
  const instructions = first.done ? undefined : findInstructions(first.value);
  const elements = async function* (): AsyncGenerator<WireObject> {
    if (!first.done && instructions === undefined) yield* encodeTurn(first.value, source);
    for await (const turn of turns) yield* encodeTurn(turn, source);
  };
  return { lead: instructions === undefined ? {} : { instructions }, elements: elements() };
}

function findInstructions(turn: RequestTurn): string | undefined {
  if (turn.role !== "system" || getResponsesMeta(turn.message).field !== "instructions") return undefined;
  const [only] = turn.pieces;
  return turn.pieces.length === 1 && only?.part.type === "text" ? only.part.text : undefined;
}

async function* encodeTurn(turn: RequestTurn, source: PartSource): AsyncGenerator<WireObject> {
  if (turn.role === "missing") {
    for (const { callId } of turn.calls)
      yield { type: "function_call_output", call_id: callId, output: NO_RESULT };
  } else if (turn.role === "tool") {
    for (const { part, extra } of turn.pieces) yield await encodeOutputItem(part, extra, source);
  } else yield* encodeMessageItems(turn, source);
}
