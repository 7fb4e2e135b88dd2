import type { Message } from "../model/message.ts";
import type { ToolResultPart } from "../model/part.ts";
import { type MessagePiece, restorePieces } from "./message-pieces.ts";
import type { PartSource } from "./part-source.ts";

/** Pieces of one message, without tool results. */
export interface MessageTurn {
  readonly role: "system" | "user" | "assistant";
  readonly message: Message;
  readonly pieces: readonly MessagePiece[];
}

/** Results of one message that answer open calls, at a place that is valid in a request. */
interface ResultsTurn {
  readonly role: "tool";
  readonly message: Message;
  readonly pieces: readonly ResultPiece[];
}

/** A result with the name of its call. */
export interface ResultPiece extends MessagePiece<ToolResultPart> {
  readonly callName: string;
}

/** Calls without a result, at the place where a request requires one. */
interface MissingTurn {
  readonly role: "missing";
  readonly calls: readonly OpenCall[];
}

/** A call that waits for its result. */
interface OpenCall {
  readonly callId: string;
  readonly name: string;
}

/** One step of a conversation in the order that providers require. */
export type RequestTurn = MessageTurn | ResultsTurn | MissingTurn;

/**
 * Yields messages as turns that make a valid request: results directly after their calls, before any other
 * message; a MissingTurn for calls without a result; results without a call as user text. A model may call in several
 * messages before its results come. Extras are those of imports from `format`. Only messages that arrive while calls
 * are open are held.
 */
export async function* readRequestTurns(
  messages: AsyncIterable<Message>,
  source: Pick<PartSource, "restore">,
  format: string,
): AsyncGenerator<RequestTurn> {
  const open = new Map<string, OpenCall>();
  let held: MessageTurn[] = [];
  /** True while only the model has spoken since its calls: its turn may continue. */
  let isCalling = false;
  for await (const message of messages) {
    const pieces = await restorePieces(message, source, format);
    const otherPieces = pieces.filter(({ part }) => part.type !== "tool-result");
    if (message.role === "assistant") {
      if (open.size > 0 && !isCalling) {
        yield { role: "missing", calls: [...open.values()] };
        open.clear();
        yield* held;
        held = [];
      }
      yield { role: "assistant", message, pieces: otherPieces };
      for (const { part } of otherPieces)
        if (part.type === "tool-call") open.set(part.callId, { callId: part.callId, name: part.name });
    }
    const results = pieces.filter(
      (piece): piece is MessagePiece<ToolResultPart> => piece.part.type === "tool-result",
    );
    isCalling = message.role === "assistant" && results.length === 0;
    const answers = results.flatMap((piece): ResultPiece[] => {
      const call = open.get(piece.part.callId);
      open.delete(piece.part.callId);
      return call ? [{ ...piece, callName: call.name }] : [];
    });
    if (answers.length > 0) yield { role: "tool", message, pieces: answers };
    const late = results
      .filter(({ part }) => !answers.some((answer) => answer.part === part))
      .flatMap(toLateResultText);
    if (late.length > 0) held.push({ role: "user", message, pieces: late });
    if (message.role !== "assistant" && otherPieces.length > 0)
      held.push({ role: message.role === "system" ? "system" : "user", message, pieces: otherPieces });
    if (open.size === 0) {
      yield* held;
      held = [];
    }
  }
  if (open.size > 0) yield { role: "missing", calls: [...open.values()] };
  yield* held;
}

/** Converts the result of a call that is no longer open to text, because providers refuse it as a result. */
function toLateResultText({ part }: MessagePiece<ToolResultPart>): readonly MessagePiece[] {
  const title = `[${part.isError ? "error" : "result"} of the call ${part.callId}]`;
  return [{ part: { type: "text", text: title } }, ...part.output.map((piece) => ({ part: piece }))];
}
