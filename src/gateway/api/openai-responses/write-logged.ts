import { textOf } from "../../../formats/content/fields.ts";
import { itemsOfMessage } from "../../../formats/writing/openai-responses.ts";
import type { Message } from "../../../index.ts";
import type { JsonObject, LoggedBytes } from "../api.ts";

/**
 * The items of a logged message, for a request that does not refer to the provider's stored state. Ids are removed: the
 * provider refuses an item with a known id but without its reasoning. Reasoning is included only if it is encrypted and
 * followed by another item; calls of the provider's own tools cannot be repeated.
 */
export async function writeLogged(message: Message, bytes: LoggedBytes): Promise<readonly JsonObject[]> {
  const { base64Of, restore } = bytes;
  const items = await itemsOfMessage(message, {
    base64: async ({ digest }) => (await base64Of(digest)) ?? "",
    restore: async (part) => (part.type === "blob" ? restore(part) : part),
  });
  const sayable = items.filter((item) => !isOfProvider(item) && (!isReasoning(item) || isSealed(item)));
  return sayable
    .filter((item, index) => !isReasoning(item) || isLeadingOn(sayable.slice(index + 1)))
    .map((item) => (isReasoning(item) || isRaw(item) ? item : withoutId(item)));
}

const isReasoning = ({ type }: JsonObject) => type === "reasoning";
const isSealed = ({ encrypted_content }: JsonObject) => typeof encrypted_content === "string";

/** Items that are meaningless without their id. */
const isRaw = ({ type }: JsonObject) =>
  ["item_reference", "compaction", "computer_call"].includes(String(type)) ||
  String(type).startsWith("mcp_approval_");

/** True for a call that only the provider carries out, or for its list of tools. */
function isOfProvider({ type, call_id }: JsonObject): boolean {
  const name = textOf(type) ?? "";
  return (name.endsWith("_call") && call_id === undefined) || name === "mcp_list_tools";
}

/** True if an item other than reasoning follows. */
function isLeadingOn(later: readonly JsonObject[]): boolean {
  return later.some((item) => !isReasoning(item));
}

function withoutId({ id: _, ...item }: JsonObject): JsonObject {
  return item;
}
