import type { Message } from "../../index.ts";
import { objectOf } from "../content/fields.ts";
import { NO_RESULT } from "../content/marks.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { modelPart, resultPart } from "./ai-sdk-parts.ts";
import { jsonArrayPieces } from "./json-text.ts";
import { type SpokenTurn, type Turn, turnsOf } from "./turns.ts";
import type { ExportedSession, Writer } from "./writer.ts";

const NAME = "ai-sdk";

/**
 * Writes the active line as ModelMessages of Vercel's AI SDK. Signatures go into the options of their provider; those
 * of an unknown provider under "longhaul". Raw parts of other formats are left out.
 */
export const aiSdkWriter: Writer = {
  name: "ai-sdk",
  title: "AI SDK ModelMessages",
  isFolder: false,
  write: (session) => jsonArrayPieces("messages.json", messagesOf(session)),
};

async function* messagesOf(session: ExportedSession): AsyncGenerator<JsonObject> {
  for await (const turn of turnsOf(session, NAME)) yield* messagesOfTurn(turn, session);
}

async function* messagesOfTurn(turn: Turn, session: ExportedSession): AsyncGenerator<JsonObject> {
  switch (turn.role) {
    case "missing": {
      const content = turn.calls.map(({ callId, name }) => ({
        type: "tool-result",
        toolCallId: callId,
        toolName: name,
        output: { type: "error-text", value: NO_RESULT },
      }));
      return yield { role: "tool", content };
    }
    case "tool": {
      const content: JsonObject[] = [];
      for (const answer of turn.pieces) content.push(await resultPart(answer, session));
      return yield { role: "tool", content, ...ownOptions(turn.message) };
    }
    case "system":
      // A system message's content is a string, so each part becomes a message.
      for (const { part, extra } of turn.pieces)
        if (part.type === "text")
          yield { role: "system", content: part.text, ...extra, ...ownOptions(turn.message) };
      return;
    default: {
      const content = await contentOf(turn, session);
      if (content !== undefined) yield { role: turn.role, content, ...ownOptions(turn.message) };
    }
  }
}

/** Builds content: a string if it suffices, else parts. */
async function contentOf(
  turn: SpokenTurn,
  session: ExportedSession,
): Promise<string | JsonObject[] | undefined> {
  const content: JsonObject[] = [];
  for (const piece of turn.pieces) {
    const part = await modelPart(piece, session);
    if (part) content.push(part);
  }
  const [first] = content;
  if (!first) return undefined;
  const isPlain = content.length === 1 && first.type === "text" && Object.keys(first).length === 2;
  return isPlain ? String(first.text) : content;
}

/** Returns the message's own options, as imported. */
function ownOptions(message: Message): JsonObject {
  const options = objectOf(message.meta?.[NAME])?.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}
