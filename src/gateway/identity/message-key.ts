import type { Message, MessageInput } from "../../index.ts";
import { buildCanonicalKey } from "./canonical-key.ts";

/** Stores the key in a message's metadata, because the stored text may lack secrets and ids may be rewritten. */
export function addMessageKey(message: MessageInput, key: string): MessageInput {
  return { ...message, meta: { ...message.meta, gateway: { key } } };
}

/** The key of a logged message: the stored one, or one computed from its content. */
export function getMessageKey(message: Message): string {
  const mark = message.meta?.gateway;
  if (typeof mark === "object" && mark !== null && "key" in mark && typeof mark.key === "string")
    return mark.key;
  return buildCanonicalKey(message as MessageInput);
}
