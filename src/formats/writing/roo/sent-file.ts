import type { Entry, MessageBody } from "../../../index.ts";
import { fieldsBesides } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { sentBlocks, sentElement } from "../cline/sent-message.ts";
import { taskEntries } from "../cline/task-session.ts";
import type { ExportedSession } from "../writer.ts";
import { TagPlan } from "./tag-plan.ts";

/** Yields the conversation with the model in Roo's format. */
export async function* rooElements(session: ExportedSession): AsyncGenerator<unknown> {
  const plan = await TagPlan.of(session);
  for await (const item of taskEntries(session, "roo")) {
    if (item.type !== "element" && item.type !== "sent") continue;
    yield* plan.before(item.entry);
    if (item.type === "element") yield item.element;
    else yield { ...(await elementOf(item.entry, item.fields, session)), ...plan.tagsOf(item.entry) };
  }
  yield* plan.before(undefined);
}

async function elementOf(
  entry: Entry<MessageBody>,
  fields: JsonObject | undefined,
  session: ExportedSession,
): Promise<JsonObject> {
  const blocks = await sentBlocks(entry, fields, session);
  if (fields?.type === "reasoning") return reasoningItem(entry, fields);
  const element = sentElement(entry, fields, blocks);
  if (!fields) return fieldsBesides(element, ["modelInfo"]) ?? {};
  // Restores the second copy of the reasoning, which the import left out.
  const thinking = blocks.find(({ type }) => type === "reasoning" || type === "thinking");
  return element.reasoning_content === true
    ? { ...element, reasoning_content: thinking?.text ?? thinking?.thinking }
    : element;
}

/** Builds the separate element for a provider's encrypted reasoning. */
function reasoningItem({ message }: Entry<MessageBody>, fields: JsonObject): JsonObject {
  const [part] = message.parts;
  const hasText = !Array.isArray(fields.summary);
  if (part?.type !== "reasoning") return fields;
  return {
    ...fields,
    ...(hasText && { text: part.text }),
    ...(part.opaque !== undefined && { encrypted_content: part.opaque }),
  };
}
