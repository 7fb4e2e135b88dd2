import type { Kernel } from "../../index.ts";
import type { RecordedMessage } from "../../window-entry.ts";

/** US dollars of an uncached input token of the conversation's last model; undefined if its prices are unknown. */
export function findTokenPrice(kernel: Kernel, conversation: readonly RecordedMessage[]): number | undefined {
  const model = conversation.findLast(({ message }) => message.model !== undefined)?.message.model;
  const facts = model === undefined ? undefined : kernel.modelFacts(model);
  return facts && !facts.arePricesAssumed ? facts.prices.input / 1_000_000 : undefined;
}

/** Requests in a conversation: replies that follow something. */
export function countRequests(conversation: readonly RecordedMessage[]): number {
  return conversation.filter(({ message }, index) => message.role === "assistant" && index > 0).length;
}
