import type { Message } from "../../model/message.ts";
import { toText } from "../fields.ts";
import type { LoggedContent, WireObject } from "../wire.ts";
import { encodeResponsesItems } from "./encode-responses-items.ts";

/**
 * The items of a logged message, for a request that does not refer to the provider's stored state. Ids are removed: the
 * provider refuses an item with a known id but without its reasoning. Reasoning is included only if it is encrypted and
 * followed by another item; calls of the provider's own tools cannot be repeated.
 */
export async function encodeLoggedMessage(
  message: Message,
  bytes: LoggedContent,
): Promise<readonly WireObject[]> {
  const { loadBase64: base64Of, restore } = bytes;
  const items = await encodeResponsesItems(message, {
    base64: async ({ digest }) => (await base64Of(digest)) ?? "",
    restore: async (part) => (part.type === "blob" ? restore(part) : part),
  });
  const sayable = items.filter((item) => !isProviderCall(item) && (!isReasoning(item) || isEncrypted(item)));
  return sayable
    .filter((item, index) => !isReasoning(item) || hasFollower(sayable.slice(index + 1)))
    .map((item) => (isReasoning(item) || needsId(item) ? item : withoutId(item)));
}

const isReasoning = ({ type }: WireObject) => type === "reasoning";
const isEncrypted = ({ encrypted_content }: WireObject) => typeof encrypted_content === "string";

/** Items that are meaningless without their id. */
const needsId = ({ type }: WireObject) =>
  ["item_reference", "compaction", "computer_call"].includes(String(type)) ||
  String(type).startsWith("mcp_approval_");

/** True for a call that only the provider carries out, or for its list of tools. */
function isProviderCall({ type, call_id }: WireObject): boolean {
  const name = toText(type) ?? "";
  return (name.endsWith("_call") && call_id === undefined) || name === "mcp_list_tools";
}

/** True if an item other than reasoning follows. */
function hasFollower(later: readonly WireObject[]): boolean {
  return later.some((item) => !isReasoning(item));
}

function withoutId({ id: _, ...item }: WireObject): WireObject {
  return item;
}
