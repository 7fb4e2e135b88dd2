import type { Overflow } from "./overflow.ts";

/** A request that was refused because prompt and output together exceed the window. */
export interface RefusedRequest {
  readonly overflow: Overflow;
  /** Own count of the prompt, on the safe side. */
  readonly promptTokens: number;
  /** Output that the request asked for, as far as the caller has told. */
  readonly askedTokens: number | undefined;
  /** Window of the model as far as it was known before, in tokens. */
  readonly window: number;
}

/** A reply with less room than this is worth nothing: the conversation has to make room for it instead. */
const MIN_OUTPUT_TOKENS = 1_024;

/**
 * The output that a refused request may ask for so that its prompt fits as it is; undefined if the prompt itself is too
 * long, or leaves no room for a reply.
 */
export function outputLeft({
  overflow,
  promptTokens,
  askedTokens,
  window,
}: RefusedRequest): number | undefined {
  const { limitTokens = window, requestedTokens, outputTokens } = overflow;
  const output = outputTokens ?? askedTokens;
  if (output === undefined) return undefined;
  const prompt = requestedTokens === undefined ? promptTokens : requestedTokens - (outputTokens ?? 0);
  const left = Math.floor(limitTokens - prompt);
  return left < output && left >= MIN_OUTPUT_TOKENS ? left : undefined;
}
