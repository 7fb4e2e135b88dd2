import { MIN_RATIO } from "../tokens/learned-counts.ts";
import type { Overflow } from "./overflow.ts";

/** Facts about a request that the provider reported as too long. */
interface SentRequest {
  /** Estimated tokens of the prompt. */
  readonly estimated: number;
  /** The most tokens that the provider can count for the prompt. */
  readonly maxTokens: number;
  /** Output tokens that the request asked for; undefined if the caller did not say. */
  readonly requestedOutputTokens: number | undefined;
}

/** No model has a smaller window, so a smaller number means something else. */
const MIN_WINDOW_TOKENS = 512;

/** False if the numbers of an overflow error cannot refer to this request. */
function isPossibleOverflow(overflow: Overflow, sent: SentRequest): boolean {
  const { limitTokens, requestedTokens, outputTokens } = overflow;
  if (limitTokens !== undefined && limitTokens < MIN_WINDOW_TOKENS) return false;
  if (requestedTokens !== undefined) {
    const prompt = requestedTokens - (outputTokens ?? 0);
    return prompt >= sent.estimated * MIN_RATIO && prompt <= sent.maxTokens;
  }
  const output = outputTokens ?? sent.requestedOutputTokens ?? 0;
  return limitTokens === undefined || sent.maxTokens + output > limitTokens;
}

/** Removes the numbers from an overflow error if they cannot refer to this request. */
export function removeImpossibleCounts(overflow: Overflow, sent: SentRequest): Overflow {
  if (isPossibleOverflow(overflow, sent)) return overflow;
  const { provider, message } = overflow;
  return { ...(provider !== undefined && { provider }), message };
}
