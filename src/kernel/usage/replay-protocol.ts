import { sumPromptTokens } from "../../model/usage.ts";
import {
  type ModelFacts,
  PROTOCOL,
  type Protocol,
  type RecordedMessage,
  type Totals,
} from "../faces/window.ts";
import type { Kernel } from "../index.ts";

const HOUR_MS = 3_600_000;

/**
 * The prices that a session is replayed with. Where its provider reported cache reads or writes, those of its model;
 * where it reported none, no cache is assumed. Sessions without reports are replayed with the standard protocol.
 */
export function chooseReplayProtocol(totals: Totals, facts: ModelFacts | undefined): Protocol {
  const { cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens } = totals;
  if (sumPromptTokens(totals) === 0) return PROTOCOL;
  const prices = facts && !facts.arePricesAssumed && facts.prices.input > 0 ? facts.prices : undefined;
  const outputPrice = prices ? prices.output / prices.input : PROTOCOL.outputPrice;
  if (cacheReadTokens + cacheWriteTokens === 0)
    return { ...PROTOCOL, readPrice: 1, writePrice: 1, outputPrice };
  const cacheMs = cacheWriteHourTokens > 0 ? HOUR_MS : (facts?.cacheMs ?? PROTOCOL.cacheMs);
  if (!prices) return { ...PROTOCOL, cacheMs };
  const write = cacheWriteHourTokens > 0 ? prices.cacheWriteHour : prices.cacheWrite;
  return {
    ...PROTOCOL,
    cacheMs,
    readPrice: prices.cacheRead / prices.input,
    writePrice: cacheWriteTokens > 0 ? write / prices.input : 1,
    outputPrice,
  };
}

/** The prices of a model for any session; undefined if they are unknown. */
export function buildModelProtocol({ prices, arePricesAssumed, cacheMs }: ModelFacts): Protocol | undefined {
  if (arePricesAssumed || prices.input <= 0) return undefined;
  return {
    ...PROTOCOL,
    cacheMs: cacheMs ?? PROTOCOL.cacheMs,
    readPrice: prices.cacheRead / prices.input,
    writePrice: prices.cacheWrite / prices.input,
    outputPrice: prices.output / prices.input,
  };
}

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
