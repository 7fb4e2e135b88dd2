import type { Message } from "../../kernel/index.ts";
import { encodeModelPart, encodeResultPart } from "../../wire/ai-sdk/ai-sdk-part-encode.ts";
import { toObject } from "../../wire/fields.ts";
import { type MessageTurn, type RequestTurn, readRequestTurns } from "../../wire/request-turns.ts";
import { NO_RESULT } from "../../wire/result-marks.ts";
import type { ExportedSession, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { readLineMessages } from "../writing/read-line-messages.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";

const NAME = "ai-sdk";

/**
 * Writes the active line as ModelMessages of Vercel's AI SDK. Signatures go into the options of their provider; those
 * of an unknown provider under "longhaul". Raw parts of other formats are left out.
 */
export const aiSdkWriter: Writer = {
  name: "ai-sdk",
  title: "AI SDK ModelMessages",
  isFolder: false,
  write: (session) => writeJsonArray("messages.json", encodeMessages(session)),
};

async function* encodeMessages(session: ExportedSession): AsyncGenerator<JsonObject> {
  for await (const turn of readRequestTurns(readLineMessages(session), session, NAME))
    yield* encodeTurn(turn, session);
}

async function* encodeTurn(turn: RequestTurn, session: ExportedSession): AsyncGenerator<JsonObject> {
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
      for (const answer of turn.pieces) content.push(await encodeResultPart(answer, session));
      return yield { role: "tool", content, ...getOwnOptions(turn.message) };
    }
    case "system":
      // A system message's content is a string, so each part becomes a message.
      for (const { part, extra } of turn.pieces)
        if (part.type === "text")
          yield { role: "system", content: part.text, ...extra, ...getOwnOptions(turn.message) };
      return;
    default: {
      const content = await encodeContent(turn, session);
      if (content !== undefined) yield { role: turn.role, content, ...getOwnOptions(turn.message) };
    }
  }
}

/** Builds content: a string if it suffices, else parts. */
async function encodeContent(
  turn: MessageTurn,
  session: ExportedSession,
): Promise<string | JsonObject[] | undefined> {
  const content: JsonObject[] = [];
  for (const piece of turn.pieces) {
    const part = await encodeModelPart(piece, session);
    if (part) content.push(part);
  }
  const [first] = content;
  if (!first) return undefined;
  const isPlain = content.length === 1 && first.type === "text" && Object.keys(first).length === 2;
  return isPlain ? String(first.text) : content;
}

/** Returns the message's own options, as imported. */
function getOwnOptions(message: Message): JsonObject {
  const options = toObject(message.meta?.[NAME])?.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}
