import type { Message } from "../../model/message.ts";
import { requireParts } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import { renderInput } from "../extract/part-text.ts";

/** Counting and pricing rules of a replay. Tokens are characters/4, so that anyone can reproduce the numbers. */
export interface Protocol {
  /** Tokens of system prompt and tools, in every request. */
  readonly systemTokens: number;
  /** Tokens of the window reserved for the reply. */
  readonly reserveTokens: number;
  /**
   * Price of a token read from the cache, relative to an uncached input token; `writePrice` is that of a token written
   * to it.
   */
  readonly readPrice: number;
  readonly writePrice: number;
  /** Price of an output token, for calls that fetch lost content again. */
  readonly outputPrice: number;
  /** Lifetime of the provider's cache. */
  readonly cacheMs: number;
}

/**
 * Anthropic's cache: reads cost a tenth, writes a quarter more, and entries live for five minutes. Output costs five
 * times the input.
 */
export const PROTOCOL: Protocol = {
  systemTokens: 12_000,
  reserveTokens: 8_000,
  readPrice: 0.1,
  writePrice: 1.25,
  outputPrice: 5,
  cacheMs: 300_000,
};

const CALL_TOKENS = 50;
const IMAGE_TOKENS = 1_500;

/** Tokens of a message as the protocol counts them. */
export function countProtocolTokens(message: Message): number {
  return requireParts(message).reduce((sum, part) => sum + countPartTokens(part), 0);
}

function countPartTokens(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return Math.ceil(part.text.length / 4);
    case "tool-call":
      return Math.ceil(renderInput(part.input).length / 4) + CALL_TOKENS;
    case "tool-result":
      return part.output.reduce((sum, inner) => sum + countPartTokens(inner), 0);
    case "blob":
      if (part.of === undefined) return part.mime.startsWith("image/") ? IMAGE_TOKENS : 0;
      return (
        Math.ceil((part.shownCharacters ?? part.sizeBytes) / 4) + (part.of === "tool-call" ? CALL_TOKENS : 0)
      );
    default:
      return 0;
  }
}
