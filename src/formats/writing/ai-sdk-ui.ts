import type { Message, ToolResultPart } from "../../index.ts";
import { objectOf, textOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { contentPieces, jsonOf, plainText, rawUiPart, reasoningPart, uiExtra } from "./ai-sdk-parts.ts";
import { jsonArrayPieces } from "./json-text.ts";
import { allowedName, isMedia, type Piece, type SpokenTurn, turnsOf } from "./turns.ts";
import type { ExportedSession, Writer } from "./writer.ts";

const NAME = "ai-sdk";

/**
 * Writes the active line as UIMessages of Vercel's AI SDK: consecutive model messages become one message of several
 * steps, with results in the parts of their calls. Raw parts of other formats are left out.
 */
export const aiSdkUiWriter: Writer = {
  name: "ai-sdk-ui",
  title: "AI SDK UIMessages",
  isFolder: false,
  write: (session) => jsonArrayPieces("messages.json", messagesOf(session)),
};

/** The current message: its parts, and the indexes of open calls among them. */
interface Draft {
  readonly id: string;
  readonly metadata: JsonObject;
  readonly parts: JsonObject[];
  readonly calls: Map<string, number>;
}

async function* messagesOf(session: ExportedSession): AsyncGenerator<JsonObject> {
  let draft: Draft | undefined;
  let count = 0;
  const flush = function* (): Generator<JsonObject> {
    if (draft && draft.parts.length > 0)
      yield { id: draft.id, role: "assistant", ...draft.metadata, parts: draft.parts };
    draft = undefined;
  };
  for await (const turn of turnsOf(session, NAME)) {
    // UIMessages can represent a call without a result.
    if (turn.role === "missing") continue;
    if (turn.role === "tool") {
      for (const piece of turn.pieces) if (draft) await answer(draft, piece, session);
      continue;
    }
    count++;
    const own = objectOf(turn.message.meta?.[NAME]) ?? {};
    if (turn.role !== "assistant" || own.id !== undefined) yield* flush();
    if (turn.role === "assistant") {
      draft ??= { ...headOf(turn.message, count), parts: [], calls: new Map() };
      await addStep(draft, turn, session);
    } else {
      const parts = await saidParts(turn.pieces, session);
      if (parts.length === 0) continue;
      const { id, metadata } = headOf(turn.message, count);
      yield { id, role: turn.role, ...metadata, parts };
    }
  }
  yield* flush();
}

function headOf(message: Message, count: number): Pick<Draft, "id" | "metadata"> {
  const own = objectOf(message.meta?.[NAME]) ?? {};
  const metadata = own.metadata === undefined ? {} : { metadata: own.metadata };
  return { id: textOf(own.id) ?? `message-${count}`, metadata };
}

async function addStep(draft: Draft, turn: SpokenTurn, session: ExportedSession): Promise<void> {
  draft.parts.push({ type: "step-start" });
  for (const piece of turn.pieces) {
    const { part } = piece;
    if (part.type === "tool-call") draft.calls.set(part.callId, draft.parts.length);
    const written = await uiPart(piece, session);
    if (written) draft.parts.push(written);
  }
}

async function saidParts(pieces: readonly Piece[], session: ExportedSession): Promise<readonly JsonObject[]> {
  const parts: JsonObject[] = [];
  for (const piece of pieces) {
    const part = await uiPart(piece, session);
    if (part) parts.push(part);
  }
  return parts;
}

async function uiPart(piece: Piece, session: ExportedSession): Promise<JsonObject | undefined> {
  const { part } = piece;
  const extra = uiExtra(piece.extra, part.type === "tool-call" ? "callProviderMetadata" : "providerMetadata");
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...extra };
    case "reasoning":
      return reasoningPart(part, "providerMetadata", extra);
    case "tool-call": {
      const { dynamic, ...rest } = extra;
      const isDynamic = dynamic === true || allowedName(part.name) !== part.name;
      const kind = isDynamic ? { type: "dynamic-tool", toolName: part.name } : { type: `tool-${part.name}` };
      return { ...kind, toolCallId: part.callId, state: "input-available", input: part.input, ...rest };
    }
    case "blob": {
      if (!isMedia(part)) return undefined;
      const filename = part.name === undefined ? {} : { filename: part.name };
      const url = `data:${part.mime};base64,${await session.base64(part)}`;
      return { type: "file", mediaType: part.mime, ...filename, url, ...extra };
    }
    case "raw":
      return rawUiPart(part);
    case "tool-result":
      return undefined;
  }
}

/** Puts a result into the part of its call. */
async function answer(draft: Draft, piece: Piece<ToolResultPart>, session: ExportedSession): Promise<void> {
  const at = draft.calls.get(piece.part.callId);
  const call = at === undefined ? undefined : draft.parts[at];
  if (at === undefined || !call) return;
  draft.calls.delete(piece.part.callId);
  if (call.state === "output-denied") return;
  draft.parts[at] = { ...call, ...(await answerFields(piece, session)) };
}

async function answerFields(
  { part, extra }: Piece<ToolResultPart>,
  session: ExportedSession,
): Promise<JsonObject> {
  const text = plainText(part);
  if (part.isError && text !== undefined) return { state: "output-error", errorText: text };
  const isJson = objectOf(extra?.output)?.type === "json";
  const json = isJson ? jsonOf(text) : undefined;
  const pieces = {
    type: "content",
    value: await contentPieces(part, session),
    ...(part.isError && { isError: true }),
  };
  return { state: "output-available", output: json ? json.value : (text ?? pieces) };
}
