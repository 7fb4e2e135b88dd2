import type { Message, MessageInput } from "../../index.ts";
import { canonicalKey } from "../identity/canonical-key.ts";

/** A message with the mark by which it is known again: what is stored may lack secrets, and ids may be rewritten. */
export function withKey(message: MessageInput, key: string): MessageInput {
  return { ...message, meta: { ...message.meta, gateway: { key } } };
}

/** The key of a message of the log: as it was marked, or else made from its words. */
export function keyOf(message: Message): string {
  const mark = message.meta?.gateway;
  if (typeof mark === "object" && mark !== null && "key" in mark && typeof mark.key === "string")
    return mark.key;
  return canonicalKey(message as MessageInput);
}
