import { MIN_RATIO } from "../tokens/plausible.ts";
import type { Overflow } from "./overflow.ts";

/** What is known about a request that was called too long. */
export interface SentRequest {
  /** Estimated tokens of its prompt. */
  readonly estimated: number;
  /** The most tokens that its provider can count for the prompt. */
  readonly maxTokens: number;
  /** Output that it asked for, as far as the caller has told. */
  readonly askedTokens: number | undefined;
}

/** No model has a smaller window: such a number means something else. */
const MIN_WINDOW_TOKENS = 512;

/** False if the numbers of an overflow error cannot be about the request. */
export function isPossibleOverflow(overflow: Overflow, sent: SentRequest): boolean {
  const { limitTokens, requestedTokens, outputTokens } = overflow;
  if (limitTokens !== undefined && limitTokens < MIN_WINDOW_TOKENS) return false;
  if (requestedTokens !== undefined) {
    const prompt = requestedTokens - (outputTokens ?? 0);
    return prompt >= sent.estimated * MIN_RATIO && prompt <= sent.maxTokens;
  }
  const output = outputTokens ?? sent.askedTokens ?? 0;
  return limitTokens === undefined || sent.maxTokens + output > limitTokens;
}

/** An overflow error as far as it can be believed: without its numbers if they cannot be about the request. */
export function believedOverflow(overflow: Overflow, sent: SentRequest): Overflow {
  if (isPossibleOverflow(overflow, sent)) return overflow;
  const { provider, message } = overflow;
  return { ...(provider !== undefined && { provider }), message };
}
