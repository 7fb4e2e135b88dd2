import type { Message, ToolCallPart, ToolResultPart } from "../../index.ts";
import { arrayOf, objectOf } from "../content/fields.ts";
import { NO_RESULT, TOOL_ERROR, withErrorMark } from "../content/marks.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { jsonArrayPieces } from "./json-text.ts";
import { contentOf, withMarks } from "./openai-chat-content.ts";
import { allowedName, type Piece, type SpokenTurn, turnsOf } from "./turns.ts";
import type { ExportedSession, Writer } from "./writer.ts";

const NAME = "openai-chat";
const FILE = "conversation.json";

/**
 * Writes the active line as a request of the Chat Completions API: `{ messages }`. Media in tool results follow in a
 * separate user message. A failed tool's output begins with "[tool error]". Reasoning from other formats, for which
 * OpenAI has no field, and raw parts of other formats are left out.
 */
export const openaiChatWriter: Writer = {
  name: NAME,
  title: "OpenAI Chat Completions",
  isFolder: false,
  write: (session) => jsonArrayPieces(FILE, messagesOf(session), '{"messages":', "}"),
};

/** A message, and its media for a following user message. */
interface Written {
  readonly message: JsonObject | undefined;
  readonly media: readonly JsonObject[];
}

async function* messagesOf(session: ExportedSession): AsyncGenerator<JsonObject> {
  let media: JsonObject[] = [];
  let spoken = 0;
  /** An assistant message with calls; the next one's calls join it if nothing comes between. */
  let calling: JsonObject | undefined;
  for await (const turn of turnsOf(session, NAME)) {
    if (turn.role !== "assistant" && calling) {
      yield calling;
      calling = undefined;
    }
    if (turn.role === "missing") {
      for (const { callId } of turn.calls) yield { role: "tool", tool_call_id: callId, content: NO_RESULT };
      continue;
    }
    if (turn.role === "tool") {
      for (const { part } of turn.pieces) {
        const written = await toolMessage(part, session);
        yield written.message;
        for (const one of written.media) media.push(one);
      }
      continue;
    }
    // Other messages may follow only after all results.
    if (media.length > 0 && !calling) {
      yield { role: "user", content: media };
      media = [];
    }
    if (turn.role !== "assistant") {
      const message = await plainMessage(turn, session);
      if (message) yield message;
      continue;
    }
    const written = await assistantMessage(turn, session, `message ${++spoken}`);
    for (const one of written.media) media.push(one);
    const message =
      calling && written.message ? joined(calling, written.message) : (written.message ?? calling);
    calling = message?.tool_calls ? message : undefined;
    if (message && !calling) yield message;
  }
  if (calling) yield calling;
  if (media.length > 0) yield { role: "user", content: media };
}

/** Joins two assistant messages, because the results of all calls must follow. */
function joined(first: JsonObject, second: JsonObject): JsonObject {
  const contents = [first.content, second.content].flatMap((content) =>
    typeof content === "string" ? [{ type: "text", text: content }] : arrayOf(content),
  );
  const calls = [...arrayOf(first.tool_calls), ...arrayOf(second.tool_calls)];
  return { ...first, ...second, content: contents.length > 0 ? contents : null, tool_calls: calls };
}

async function plainMessage(
  { role, message, pieces }: SpokenTurn,
  session: ExportedSession,
): Promise<JsonObject | undefined> {
  const { role: ownRole, name } = ownMeta(message);
  const content = await contentOf(pieces, session);
  if (content === undefined) return undefined;
  return {
    role: role === "system" && ownRole === "developer" ? "developer" : role,
    content,
    ...(typeof name === "string" && { name }),
  };
}

async function assistantMessage(turn: SpokenTurn, session: ExportedSession, owner: string): Promise<Written> {
  const own = ownMeta(turn.message);
  const { pieces, media } = await withMarks(turn.pieces, owner, session);
  const calls = turn.pieces.flatMap(({ part, extra }) =>
    part.type === "tool-call" ? [toolCall(part, extra)] : [],
  );
  const content = await contentOf(pieces, session);
  if (content === undefined && calls.length === 0) return { message: undefined, media };
  const message = {
    role: "assistant",
    content: content ?? null,
    ...(typeof own.name === "string" && { name: own.name }),
    ...reasoningFields(turn.pieces, own.reasoning),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { message, media };
}

/** Returns reasoning in the field that it was imported from. */
function reasoningFields(pieces: readonly Piece[], field: unknown): JsonObject {
  const part = pieces.map((piece) => piece.part).find(({ type }) => type === "reasoning");
  if (part?.type !== "reasoning") return {};
  const details = objectOf(part.opaque)?.reasoning_details;
  const isNamed = field === "reasoning_content" || field === "reasoning";
  return {
    ...(isNamed && { [field]: part.text }),
    ...(details !== undefined && { reasoning_details: details }),
  };
}

function toolCall({ callId, name, input }: ToolCallPart, extra: JsonObject = {}): JsonObject {
  const { arguments: written, ...rest } = extra;
  if (rest.type === "custom") return { id: callId, ...rest, custom: { name, input } };
  const text = typeof written === "string" ? written : JSON.stringify(input);
  return { id: callId, type: "function", ...rest, function: { name: allowedName(name), arguments: text } };
}

async function toolMessage(
  part: ToolResultPart,
  session: ExportedSession,
): Promise<Written & { readonly message: JsonObject }> {
  const output = part.output.map((piece) => ({ part: piece }));
  const { pieces, media } = await withMarks(output, part.callId, session);
  const written = (await contentOf(pieces, session)) ?? "";
  // The importer recognizes a mark only in a content list.
  const content =
    typeof written === "string" && media.length > 0 ? [{ type: "text", text: written }] : written;
  const name = part.name === undefined ? {} : { name: allowedName(part.name) };
  const message = {
    role: "tool",
    tool_call_id: part.callId,
    ...name,
    content: part.isError ? failed(content) : content,
  };
  return { message, media };
}

function failed(content: string | readonly JsonObject[]): string | readonly JsonObject[] {
  return typeof content === "string"
    ? withErrorMark(content)
    : [{ type: "text", text: TOOL_ERROR }, ...content];
}

function ownMeta(message: Message): JsonObject {
  return objectOf(message.meta?.[NAME]) ?? {};
}
