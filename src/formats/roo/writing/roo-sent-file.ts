import type { Entry, MessageBody } from "../../../index.ts";
import { omitFields } from "../../../wire/fields.ts";
import { encodeSentBlocks, encodeSentElement } from "../../cline/writing/sent-message.ts";
import { readTaskFileEntries } from "../../cline/writing/task-file-entries.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { TagPlan } from "./tag-plan.ts";

/** Yields the conversation with the model in Roo's format. */
export async function* encodeRooElements(session: ExportedSession): AsyncGenerator<unknown> {
  const plan = await TagPlan.of(session);
  for await (const item of readTaskFileEntries(session, "roo")) {
    if (item.type !== "element" && item.type !== "sent") continue;
    yield* plan.takeElementsBefore(item.entry);
    if (item.type === "element") yield item.element;
    else yield { ...(await encodeElement(item.entry, item.fields, session)), ...plan.getTags(item.entry) };
  }
  yield* plan.takeElementsBefore(undefined);
}

async function encodeElement(
  entry: Entry<MessageBody>,
  fields: JsonObject | undefined,
  session: ExportedSession,
): Promise<JsonObject> {
  const blocks = await encodeSentBlocks(entry, fields, session);
  if (fields?.type === "reasoning") return encodeReasoningItem(entry, fields);
  const element = encodeSentElement(entry, fields, blocks);
  if (!fields) return omitFields(element, ["modelInfo"]) ?? {};
  // Restores the second copy of the reasoning, which the import left out.
  const thinking = blocks.find(({ type }) => type === "reasoning" || type === "thinking");
  return element.reasoning_content === true
    ? { ...element, reasoning_content: thinking?.text ?? thinking?.thinking }
    : element;
}

/** Builds the separate element for a provider's encrypted reasoning. */
function encodeReasoningItem({ message }: Entry<MessageBody>, fields: JsonObject): JsonObject {
  const [part] = message.parts;
  const hasText = !Array.isArray(fields.summary);
  if (part?.type !== "reasoning") return fields;
  return {
    ...fields,
    ...(hasText && { text: part.text }),
    ...(part.opaque !== undefined && { encrypted_content: part.opaque }),
  };
}
