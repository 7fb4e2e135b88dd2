import { checkFields } from "../../model/argument-checks.ts";
import type { ProviderFailure } from "../../wire/provider-failure.ts";
import { isRefusal } from "./is-refusal.ts";
import { OVERFLOW_CODES, OVERFLOW_FORMS } from "./overflow-forms.ts";
import { collectFailureFacts, type FailureFacts } from "./provider-failure.ts";

/** A request that did not fit the model's window. */
export interface Overflow {
  /** The provider, if it is the only one that uses this wording. */
  readonly provider?: string;
  /** The limit that the provider states, for input and output together. */
  readonly limitTokens?: number;
  /** The tokens that the provider counted, including the requested output if the provider states it. */
  readonly requestedTokens?: number;
  /** The part of `requestedTokens` that was reserved for output. */
  readonly outputTokens?: number;
  readonly message: string;
}

/**
 * The window overflow that a failure reports, if any. Only known wordings count: mistaking a rate limit for an overflow
 * would cost history, while missing an overflow costs one error.
 */
export function detectOverflow(failure: ProviderFailure): Overflow | undefined {
  const found = detectAnyOverflow(failure);
  return found && isOutputTooLarge(found) ? undefined : found;
}

/**
 * The overflow of a request whose requested output alone fills the model's window; shortening the messages cannot fix
 * it.
 */
export function detectOutputOverflow(failure: ProviderFailure): Overflow | undefined {
  const found = detectAnyOverflow(failure);
  return found && isOutputTooLarge(found) ? found : undefined;
}

function detectAnyOverflow(failure: ProviderFailure): Overflow | undefined {
  const facts = collectFailureFacts(checkFields("failure", failure));
  if (isRefusal(facts)) return undefined;
  return findOverflowInTexts(facts) ?? findOverflowInCodes(facts) ?? findOverflowInStatus(facts);
}

function findOverflowInTexts(facts: FailureFacts): Overflow | undefined {
  for (const text of facts.texts) {
    for (const { provider, pattern } of OVERFLOW_FORMS) {
      const match = pattern.exec(text);
      if (match) return buildOverflow(facts, text, provider, match.groups ?? {});
    }
  }
  return undefined;
}

function findOverflowInCodes(facts: FailureFacts): Overflow | undefined {
  for (const code of facts.codes) {
    if (OVERFLOW_CODES.has(code))
      return buildOverflow(facts, facts.texts[0] ?? code, OVERFLOW_CODES.get(code), {});
  }
  return undefined;
}

const PLAIN_TOO_LARGE =
  /(?:entity|payload|content|request|body)(?: is)? too large|^413 (?:status code )?\(no body\)$/i;
const ONE_FILE = /\b(?:image|audio|video|file|pdf|document)\b/i;

/** Servers in front of a model answer 413 with their own text, or with none. */
function findOverflowInStatus(facts: FailureFacts): Overflow | undefined {
  if (!facts.statuses.has(413)) return undefined;
  const isPlain = facts.texts.every((text) => PLAIN_TOO_LARGE.test(text) && !ONE_FILE.test(text));
  return isPlain ? buildOverflow(facts, facts.texts[0] ?? "413", undefined, {}) : undefined;
}

function buildOverflow(
  facts: FailureFacts,
  message: string,
  provider: string | undefined,
  groups: Readonly<Record<string, string | undefined>>,
): Overflow {
  const limitTokens = parseCount(groups.limit) ?? facts.windowTokens;
  const outputTokens = parseCount(groups.output) ?? findCount(message, OUTPUT_WORDING);
  const inputTokens =
    parseCount(groups.input) ??
    facts.promptTokens ??
    findCount(message, INPUT_WORDING) ??
    addExcess(limitTokens, parseCount(groups.excess));
  const sum = inputTokens === undefined ? undefined : inputTokens + (outputTokens ?? 0);
  const requestedTokens = findCount(message, TOTAL_WORDING) ?? sum;
  return {
    ...(provider !== undefined && { provider }),
    ...(limitTokens !== undefined && { limitTokens }),
    ...(requestedTokens !== undefined && { requestedTokens }),
    ...(outputTokens !== undefined && requestedTokens !== undefined && { outputTokens }),
    message,
  };
}

const TOTAL_WORDING =
  /(?:requested|resulted in|for a total of)(?: about| at least| a total of)? ([\d,]+) tokens/i;
const INPUT_WORDING = /([\d,]+) (?:in the messages|in your prompt|input tokens)/i;
const OUTPUT_WORDING =
  /([\d,]+) (?:in the completion|(?:tokens )?for the completion|output tokens|in the output)|max_completion_tokens' is too large: ([\d,]+)/i;

function findCount(text: string, wording: RegExp): number | undefined {
  const match = wording.exec(text);
  return parseCount(match?.[1] ?? match?.[2]);
}

function parseCount(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  const count = Number(digits.replaceAll(",", ""));
  return Number.isSafeInteger(count) ? count : undefined;
}

function addExcess(limit: number | undefined, excess: number | undefined): number | undefined {
  return limit === undefined || excess === undefined ? undefined : limit + excess;
}

/** True if the output alone fills the window, so no prompt is short enough. */
function isOutputTooLarge({ outputTokens, limitTokens }: Overflow): boolean {
  return outputTokens !== undefined && limitTokens !== undefined && outputTokens >= limitTokens;
}
