import type { Kernel } from "../../index.ts";
import type { ModelFacts, RecordedMessage } from "../../window-entry.ts";

/** The facts of the conversation's last model; undefined if no message names one. */
export function findLastModelFacts(
  kernel: Kernel,
  conversation: readonly RecordedMessage[],
): ModelFacts | undefined {
  const model = conversation.findLast(({ message }) => message.model !== undefined)?.message.model;
  return model === undefined ? undefined : kernel.modelFacts(model);
}

/** US dollars of an uncached input token; undefined if unknown. */
export function getTokenPrice(facts: ModelFacts | undefined): number | undefined {
  return facts && !facts.arePricesAssumed ? facts.prices.input / 1_000_000 : undefined;
}

/** Requests in a conversation: replies that follow something. */
export function countRequests(conversation: readonly RecordedMessage[]): number {
  return conversation.filter(({ message }, index) => message.role === "assistant" && index > 0).length;
}
