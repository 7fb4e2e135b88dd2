import type { Overflow } from "./overflow.ts";

/** A request that was refused because prompt and output together exceed the window. */
interface RefusedRequest {
  readonly overflow: Overflow;
  /** Our own count of the prompt, on the safe side. */
  readonly promptTokens: number;
  /** Output tokens that the request asked for; undefined if the caller did not say. */
  readonly requestedOutputTokens: number | undefined;
  /** The model's window as known before the refusal, in tokens. */
  readonly window: number;
}

/** A reply with less room than this is useless: the conversation has to shrink instead. */
const MIN_OUTPUT_TOKENS = 1_024;

/**
 * The output tokens that a refused request may ask for so that its unchanged prompt fits; undefined if the prompt
 * itself is too long or leaves no room for a reply.
 */
export function computeOutputLeft({
  overflow,
  promptTokens,
  requestedOutputTokens: askedTokens,
  window,
}: RefusedRequest): number | undefined {
  const { limitTokens = window, requestedTokens, outputTokens } = overflow;
  const output = outputTokens ?? askedTokens;
  if (output === undefined) return undefined;
  const prompt = requestedTokens === undefined ? promptTokens : requestedTokens - (outputTokens ?? 0);
  const left = Math.floor(limitTokens - prompt);
  return left < output && left >= MIN_OUTPUT_TOKENS ? left : undefined;
}
