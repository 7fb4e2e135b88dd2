import type { Message } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import { toAllowedName } from "../allowed-name.ts";
import { toObject } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import { type RequestTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import type { EncodedRequest, WireObject } from "../wire.ts";
import { BLOCK_FORMATS, encodeAnthropicBlocks } from "./anthropic-block-encode.ts";
import { ANTHROPIC_NAME } from "./decode-anthropic.ts";

/**
 * Encodes a conversation as a request of Anthropic's Messages API: `{ system, messages }`. Roles must alternate, so
 * consecutive messages of one role are joined. Thinking without Anthropic's signature and raw parts of other formats
 * are left out. System messages at the beginning become `system`; later ones keep their place, which models since
 * Claude 4.8 accept.
 */
export async function encodeAnthropicRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  const turns = readRequestTurns(messages, source, ANTHROPIC_NAME);
  const system: WireObject[] = [];
  let next = await turns.next();
  while (!next.done && next.value.role === "system") {
    for (const one of await encodeTurn(next.value, source)) system.push(one);
    next = await turns.next();
  }
  const first = next;
  const rest = async function* () {
    if (!first.done) yield first.value;
    yield* turns;
  };
  return { lead: system.length > 0 ? { system } : {}, elements: encodeMessages(rest(), source) };
}

/** Yields messages with alternating roles; holds only the current one. */
async function* encodeMessages(
  turns: AsyncIterable<RequestTurn>,
  source: PartSource,
): AsyncGenerator<WireObject> {
  let role = "";
  let content: WireObject[] = [];
  /** System messages after an assistant message: they may only follow a user message. */
  let delayed: (readonly WireObject[])[] = [];
  const flush = function* (): Generator<WireObject> {
    if (content.length > 0) yield { role, content };
    content = [];
    if (role === "user") {
      for (const blocks of delayed) yield { role: "system", content: blocks };
      delayed = [];
    }
  };
  for await (const turn of turns) {
    const blocks = await encodeTurn(turn, source);
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

async function encodeTurn(turn: RequestTurn, source: PartSource): Promise<readonly WireObject[]> {
  if (turn.role === "missing") {
    return turn.calls.map(({ callId }) => ({
      type: "tool_result",
      tool_use_id: toAllowedId(callId),
      content: NO_RESULT,
      is_error: true,
    }));
  }
  const blocks: WireObject[] = [];
  for (const { part, extra } of turn.pieces) {
    if (!isAccepted(part, turn.message)) continue;
    const [block] = await encodeAnthropicBlocks([toAllowedPart(part)], source);
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
  if (part.type === "raw" && !BLOCK_FORMATS.has(part.format)) return false;
  // Messages imported from an Anthropic request are exported unchanged; other tools also use providers that do not sign.
  if (message.meta?.[ANTHROPIC_NAME] !== undefined) return true;
  if (part.type === "raw") return !THOUGHTS.has(toObject(part.value)?.type);
  if (part.type !== "reasoning") return true;
  if (typeof toObject(part.opaque)?.redacted === "string") return true;
  return typeof part.opaque === "string" && isSignature(part.opaque);
}

/** Types of blocks with thoughts; such a block stays raw only if it lacks its text or data. */
const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking", "reasoning"]);

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
  const output = part.output.filter((piece) => piece.type !== "raw" || BLOCK_FORMATS.has(piece.format));
  return { ...part, callId: toAllowedId(part.callId), output };
}

function toAllowedId(id: string): string {
  return id.replace(/[^\w-]/g, "_");
}
