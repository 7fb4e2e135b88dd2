import type { Message, Part } from "../../index.ts";
import { encodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-encode.ts";
import { NO_RESULT } from "../../wire/result-marks.ts";
import { toObject } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type MessagePiece, type RequestTurn, readRequestTurns, toAllowedName } from "./request-turns.ts";
import { writeJsonArray } from "./write-json-array.ts";
import type { ExportedSession, Writer } from "./writer.ts";

const NAME = "anthropic";
const FILE = "conversation.json";

/** Formats whose raw parts are Anthropic's content blocks. */
const OWN_FORMATS = [NAME, "claude-code", "cline", "cline-sdk", "roo"];

/**
 * Writes the active line as a request of Anthropic's Messages API: `{ system, messages }`. Roles must alternate, so
 * consecutive messages of one role are joined. Thinking without Anthropic's signature and raw parts of other formats
 * are left out. System messages at the beginning become `system`; later ones keep their place, which models since
 * Claude 4.8 accept.
 */
export const anthropicWriter: Writer = {
  name: NAME,
  title: "Anthropic Messages",
  isFolder: false,
  async *write(session) {
    const turns = readRequestTurns(session, NAME);
    const system: JsonObject[] = [];
    let next = await turns.next();
    while (!next.done && next.value.role === "system") {
      for (const one of await encodeTurn(next.value, session)) system.push(one);
      next = await turns.next();
    }
    const before = `{${system.length > 0 ? `"system":${JSON.stringify(system)},` : ""}"messages":`;
    const first = next;
    const rest = async function* () {
      if (!first.done) yield first.value;
      yield* turns;
    };
    yield* writeJsonArray(FILE, encodeMessages(rest(), session), before, "}");
  },
};

/** Yields messages with alternating roles; holds only the current one. */
async function* encodeMessages(
  turns: AsyncIterable<RequestTurn>,
  session: ExportedSession,
): AsyncGenerator<JsonObject> {
  let role = "";
  let content: JsonObject[] = [];
  /** System messages after an assistant message: they may only follow a user message. */
  let delayed: (readonly JsonObject[])[] = [];
  const flush = function* (): Generator<JsonObject> {
    if (content.length > 0) yield { role, content };
    content = [];
    if (role === "user") {
      for (const blocks of delayed) yield { role: "system", content: blocks };
      delayed = [];
    }
  };
  for await (const turn of turns) {
    const blocks = await encodeTurn(turn, session);
    if (blocks.length === 0) continue;
    const turnRole = turn.role === "tool" || turn.role === "missing" ? "user" : turn.role;
    if (turnRole === "system") {
      delayed.push(blocks);
      if (role === "user") yield* flush();
      continue;
    }
    if (turnRole !== role) {
      yield* flush();
      role = turnRole;
    }
    for (const one of blocks) content.push(one);
  }
  yield* flush();
  for (const blocks of delayed) yield { role: "system", content: blocks };
}

async function encodeTurn(turn: RequestTurn, session: ExportedSession): Promise<readonly JsonObject[]> {
  if (turn.role === "missing") {
    return turn.calls.map(({ callId }) => ({
      type: "tool_result",
      tool_use_id: toAllowedId(callId),
      content: NO_RESULT,
      is_error: true,
    }));
  }
  const pieces: readonly MessagePiece[] = turn.pieces;
  const blocks: JsonObject[] = [];
  for (const { part, extra } of pieces) {
    if (!isAccepted(part, turn.message)) continue;
    const [block] = await encodeAnthropicBlocks([toAllowedPart(part)], session);
    if (block) blocks.push({ ...block, ...extra });
  }
  return blocks;
}

/**
 * Tells whether Anthropic accepts a part. It refuses empty text, thinking without its signature, and content of
 * other formats.
 */
function isAccepted(part: Part, message: Message): boolean {
  if (part.type === "text") return part.text.trim() !== "";
  if (part.type === "raw") return OWN_FORMATS.includes(part.format);
  // Messages imported from an Anthropic request are exported unchanged; other tools also use providers that do not sign.
  if (part.type !== "reasoning" || message.meta?.[NAME] !== undefined) return true;
  if (typeof toObject(part.opaque)?.redacted === "string") return true;
  return typeof part.opaque === "string" && isSignature(part.opaque);
}

/** Other tools store field names or JSON in place of Anthropic's signature. */
function isSignature(text: string): boolean {
  return /^[\w+/=-]+$/.test(text) && !text.startsWith("reasoning");
}

/** Makes ids, names and inputs valid for Anthropic; those of its own formats always are. */
function toAllowedPart(part: Part): Part {
  if (part.type === "tool-call") {
    const input = toObject(part.input) ? part.input : { input: part.input };
    return { ...part, callId: toAllowedId(part.callId), name: toAllowedName(part.name), input };
  }
  if (part.type !== "tool-result") return part;
  const output = part.output.filter((piece) => piece.type !== "raw" || OWN_FORMATS.includes(piece.format));
  return { ...part, callId: toAllowedId(part.callId), output };
}

function toAllowedId(id: string): string {
  return id.replace(/[^\w-]/g, "_");
}
