import type { Entry, MessageBody } from "../../../index.ts";
import type { Extras } from "../../content/blocks.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { blocksOfParts } from "../anthropic-blocks.ts";
import type { ExportedSession } from "../writer.ts";

/** What a message's meta says about the form it had, besides its fields. */
const FORMS = ["role", "content", "lists", "extras"];

/** The blocks of a message as they were in the task it came from, or as such a task would have them. */
export async function sentBlocks(
  { message }: Entry<MessageBody>,
  fields: JsonObject | undefined,
  session: ExportedSession,
): Promise<readonly JsonObject[]> {
  const extras = objectOf(fields?.extras) as Extras | undefined;
  const blocks = await blocksOfParts(message.parts, session, extras);
  const lists = arrayOf(fields?.lists);
  return blocks.map((block, index) => {
    if (lists.includes(index) && typeof block.content === "string")
      return { ...block, content: [{ type: "text", text: block.content }] };
    return block.type === "reasoning" ? ownReasoning(block) : block;
  });
}

/** Roo's own blocks of thinking have their words in another field. */
function ownReasoning(block: JsonObject): JsonObject {
  const { thinking, ...rest } = block;
  return { ...rest, text: thinking };
}

/** A message of the conversation, given its blocks. */
export function sentElement(
  entry: Entry<MessageBody>,
  fields: JsonObject | undefined,
  blocks: readonly JsonObject[],
): JsonObject {
  const { message } = entry;
  const spoken = message.role === "assistant" ? "assistant" : "user";
  const role = textOf(fields?.role) ?? (fields && message.role === "system" ? "system" : spoken);
  const content = fields?.content === "text" ? blocks[0]?.text : blocks;
  if (fields) return { role, content, ...fieldsBesides(fields, FORMS) };
  const modelInfo =
    message.model === undefined ? undefined : { modelId: message.model, providerId: "", mode: "act" };
  return { role, content, ts: entry.at, ...definedFields({ modelInfo }) };
}
