import type { BlobPart, Message, Part, ToolResultPart } from "../../index.ts";
import { toObject } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { ExportedSession } from "./writer.ts";

/** A restored part, with fields that an import kept. */
export interface MessagePiece<P extends Part = Part> {
  readonly part: P;
  readonly extra?: JsonObject;
}

/** Pieces of one message, without tool results. */
export interface MessageTurn {
  readonly role: "system" | "user" | "assistant";
  readonly message: Message;
  readonly pieces: readonly MessagePiece[];
}

/** Results of one message that answer open calls, at a place that is valid in a request. */
export interface ResultsTurn {
  readonly role: "tool";
  readonly message: Message;
  readonly pieces: readonly ResultPiece[];
}

/** A result with the name of its call. */
export interface ResultPiece extends MessagePiece<ToolResultPart> {
  readonly callName: string;
}

/** Calls without a result, at the place where a request requires one. */
export interface MissingTurn {
  readonly role: "missing";
  readonly calls: readonly OpenCall[];
}

/** A call that waits for its result. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
}

/** One step of a conversation in the order that providers require. */
export type RequestTurn = MessageTurn | ResultsTurn | MissingTurn;

/**
 * Yields the active line as turns that make a valid request: results directly after their calls, before any other
 * message; a MissingTurn for calls without a result; results without a call as user text. A model may call in several
 * messages before its results come. Extras are those of imports from `format`. Only messages that arrive while calls
 * are open are held.
 */
export async function* readRequestTurns(
  session: ExportedSession,
  format: string,
): AsyncGenerator<RequestTurn> {
  const open = new Map<string, OpenCall>();
  let held: MessageTurn[] = [];
  /** True while only the model has spoken since its calls: its turn may continue. */
  let isCalling = false;
  for await (const entry of session.entries("line")) {
    if (entry.kind !== "message") continue;
    const { message } = entry;
    const pieces = await restorePieces(message, session, format);
    const said = pieces.filter(({ part }) => part.type !== "tool-result");
    if (message.role === "assistant") {
      if (open.size > 0 && !isCalling) {
        yield { role: "missing", calls: [...open.values()] };
        open.clear();
        yield* held;
        held = [];
      }
      yield { role: "assistant", message, pieces: said };
      for (const { part } of said)
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
    if (message.role !== "assistant" && said.length > 0)
      held.push({ role: message.role === "system" ? "system" : "user", message, pieces: said });
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

/** Restores the parts of a message, with the extras of a format. */
export async function restorePieces(
  message: Message,
  session: Pick<ExportedSession, "restore">,
  format: string,
): Promise<readonly MessagePiece[]> {
  const extras = toObject(toObject(message.meta?.[format])?.extras);
  const pieces: MessagePiece[] = [];
  for (const [index, stored] of message.parts.entries()) {
    const extra = toObject(extras?.[String(index)]);
    const part = await restorePart(stored, session);
    pieces.push(extra ? { part, extra } : { part });
  }
  return pieces;
}

async function restorePart(stored: Part, session: Pick<ExportedSession, "restore">): Promise<Part> {
  const part = await session.restore(stored);
  if (part.type !== "tool-result") return part;
  const output: ToolResultPart["output"][number][] = [];
  for (const piece of part.output)
    output.push((await session.restore(piece)) as ToolResultPart["output"][number]);
  return { ...part, output };
}

/** Tells media from a large part that is stored as a blob. */
export function isMedia(part: Part): part is BlobPart {
  return part.type === "blob" && part.of === undefined;
}

/** Makes a tool's name valid for providers. */
export function toAllowedName(name: string): string {
  return /^[\w-]{1,128}$/.test(name) ? name : name.replace(/[^\w-]/g, "_").slice(0, 128) || "tool";
}
