import type { Entry, MessageBody } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { encodeAnthropicBlocks } from "../../../wire/anthropic/anthropic-block-encode.ts";
import type { Extras } from "../../../wire/block-content.ts";
import { omitFields, toArray, toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** Meta fields that describe the original form of a message. */
const FORM_FIELDS = ["role", "content", "lists", "extras"];

/** Builds the blocks of a message, in their original form if it was imported from such a task. */
export async function encodeSentBlocks(
  { message }: Entry<MessageBody>,
  fields: JsonObject | undefined,
  session: ExportedSession,
): Promise<readonly JsonObject[]> {
  const extras = toObject(fields?.extras) as Extras | undefined;
  const blocks = await encodeAnthropicBlocks(message.parts, session, extras);
  const lists = toArray(fields?.lists);
  return blocks.map((block, index) => {
    if (lists.includes(index) && typeof block.content === "string")
      return { ...block, content: [{ type: "text", text: block.content }] };
    return block.type === "reasoning" ? toRooReasoning(block) : block;
  });
}

/** Moves the text of Roo's own reasoning blocks to its field. */
function toRooReasoning(block: JsonObject): JsonObject {
  const { thinking, ...rest } = block;
  return { ...rest, text: thinking };
}

/** Builds a message of the conversation from its blocks. */
export function encodeSentElement(
  entry: Entry<MessageBody>,
  fields: JsonObject | undefined,
  blocks: readonly JsonObject[],
): JsonObject {
  const { message } = entry;
  const spoken = message.role === "assistant" ? "assistant" : "user";
  const role = toText(fields?.role) ?? (fields && message.role === "system" ? "system" : spoken);
  const content = fields?.content === "text" ? blocks[0]?.text : blocks;
  if (fields) return { role, content, ...omitFields(fields, FORM_FIELDS) };
  const modelInfo =
    message.model === undefined ? undefined : { modelId: message.model, providerId: "", mode: "act" };
  return { role, content, ts: entry.at, ...dropUndefined({ modelInfo }) };
}
