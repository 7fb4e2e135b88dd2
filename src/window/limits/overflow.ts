import { checkFields } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { ProviderFailure } from "../../wire/provider-failure.ts";
import { isRefusal } from "./is-refusal.ts";
import { collectFailureFacts, type FailureFacts } from "./provider-failure.ts";

/** Wordings that can only mean a window overflow, more specific ones first. */
const OVERFLOW_FORMS: readonly OverflowForm[] = [
  {
    provider: "fireworks",
    pattern: /prompt is too long: (?<input>[\d,]+), model maximum context length: (?<limit>[\d,]+)/i,
  },
  {
    provider: "anthropic",
    pattern: /prompt is too long(?:: (?<input>[\d,]+) tokens > (?<limit>[\d,]+) maximum)?/i,
  },
  {
    provider: "anthropic",
    pattern:
      /input length and `?max_tokens`? exceed context limit(?:: (?<input>[\d,]+) \+ (?<output>[\d,]+) > (?<limit>[\d,]+))?/i,
  },
  { provider: "openrouter", pattern: /this endpoint's maximum context length is (?<limit>[\d,]+) tokens/i },
  { pattern: /maximum context length is (?<limit>[\d,]+) tokens/i },
  { provider: "vllm", pattern: /model's context length is only (?<limit>[\d,]+) tokens/i },
  {
    provider: "vllm",
    pattern:
      /prompt \(total length (?<input>[\d,]+)\) is too long to fit into the model \(context length (?<limit>[\d,]+)\)/i,
  },
  {
    provider: "vllm",
    pattern:
      /prompt \(length (?<input>[\d,]+)\) is longer than the maximum model length of (?<limit>[\d,]+)/i,
  },
  {
    provider: "sglang",
    pattern: /token count exceeds the model's maximum context length of (?<limit>[\d,]+) tokens/i,
  },
  {
    provider: "sglang",
    pattern:
      /input \((?<input>[\d,]+) tokens\) is longer than the model's context length \((?<limit>[\d,]+) tokens\)/i,
  },
  { provider: "openai", pattern: /input exceeds the context window of this model/i },
  {
    provider: "xai",
    pattern: /maximum prompt length is (?<limit>[\d,]+) but the request contains (?<input>[\d,]+) tokens/i,
  },
  {
    provider: "google",
    pattern:
      /input token count(?: \((?<input>[\d,]+)\))? exceeds the maximum number of (?:input )?tokens allowed(?: \(?(?<limit>[\d,]+))?/i,
  },
  {
    provider: "google",
    pattern: /input token count is (?<input>[\d,]+) but (?:the )?model only supports up to (?<limit>[\d,]+)/i,
  },
  { provider: "bedrock", pattern: /input is too long for (?:the )?requested model/i },
  { provider: "bedrock", pattern: /too many total text bytes/i },
  { provider: "bedrock", pattern: /number of input tokens exceeds maximum length/i },
  {
    provider: "llama.cpp",
    pattern:
      /request(?: \((?<input>[\d,]+) tokens\))? exceeds the available context size(?: \((?<limit>[\d,]+) tokens\))?/i,
  },
  {
    provider: "llama.cpp",
    pattern: /requested tokens \((?<input>[\d,]+)\) exceed context window of (?<limit>[\d,]+)/i,
  },
  {
    provider: "ollama",
    pattern:
      /input length \((?<input>[\d,]+) tokens\) exceeds the model's maximum context length \((?<limit>[\d,]+) tokens\)/i,
  },
  { provider: "ollama", pattern: /prompt is longer than the context length currently available/i },
  { provider: "ollama", pattern: /exceeds the available context size/i },
  { provider: "ollama", pattern: /input length exceeds (?:the )?(?:model's )?(?:maximum )?context length/i },
  {
    provider: "ollama",
    pattern: /prompt too long; exceeded (?:max )?context length(?: by (?<excess>[\d,]+) tokens)?/i,
  },
  {
    pattern:
      /prompt has (?<input>[\d,]+) tokens?, but the configured context size is (?<limit>[\d,]+) tokens?/i,
  },
  {
    provider: "lmstudio",
    pattern:
      /tokens to keep from the initial prompt is greater than the context length(?: \(n_keep: (?<input>\d+)\s*>=\s*n_ctx: (?<limit>\d+)\))?/i,
  },
  {
    provider: "lmstudio",
    pattern: /cannot truncate prompt with n_keep \((?<input>\d+)\) >= n_ctx \((?<limit>\d+)\)/i,
  },
  {
    provider: "lmstudio",
    pattern:
      /trying to keep the first (?<input>\d+) tokens when context the overflows\. However, the model is loaded with context length of only (?<limit>\d+)/i,
  },
  { provider: "lmstudio", pattern: /context size has been exceeded/i },
  {
    provider: "mistral",
    pattern:
      /prompt contains (?<input>[\d,]+) tokens[^.]{0,80}? too large for model with (?<limit>[\d,]+) maximum context length/i,
  },
  {
    pattern:
      /reduce the length of the messages or completion(?:\. Current length is (?<input>[\d,]+) while limit is (?<limit>[\d,]+))?/i,
  },
  {
    pattern:
      /input length \(?(?<input>[\d,]+)(?: tokens)?\)? exceeds (?:the )?(?:maximum allowed (?:input )?length(?: of)?|context length) \(?(?<limit>[\d,]+)/i,
  },
  {
    provider: "cohere",
    pattern:
      /too many tokens: (?:[^.]{0,80}\()?size limit exceeded by (?<excess>[\d,]+) tokens(?:[\s\S]{0,200}?limit for this model is (?<limit>[\d,]+) tokens)?/i,
  },
  {
    provider: "cohere",
    pattern:
      /too many tokens: total number of tokens in the prompt cannot exceed (?<limit>[\d,]+)(?: - received (?<input>[\d,]+))?/i,
  },
  // The number received includes the requested output, and nothing says how much of it is output.
  {
    provider: "cohere",
    pattern:
      /too many tokens: total number of tokens \(prompt and prediction\) cannot exceed (?<limit>[\d,]+)/i,
  },
  {
    provider: "copilot",
    pattern: /prompt token count of (?<input>[\d,]+) exceeds the limit of (?<limit>[\d,]+)/i,
  },
  {
    provider: "moonshot",
    pattern: /exceeded model token limit: (?<limit>[\d,]+)(?: \(requested: (?<input>[\d,]+)\))?/i,
  },
  {
    pattern:
      /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>[\d,]+)\. Given: (?<input>[\d,]+) `inputs` tokens and (?<output>[\d,]+) `max_new_tokens`/i,
  },
  { provider: "zhipu", pattern: /prompt (?:exceeds max length|超长)/i },
  { provider: "alibaba", pattern: /range of input length should be \[\d+, ?(?<limit>[\d,]+)\]/i },
  // The number in brackets after this text is an error code.
  { provider: "minimax", pattern: /context window exceeds limit/i },
  { provider: "litellm", pattern: /context window exceeded for given call|ContextWindowExceededError/i },
  { pattern: /\bcontext_length_exceeded\b/i },
];

/** Codes and stop reasons that can only mean a window overflow, with the provider if only one uses the code. */
const OVERFLOW_CODES: ReadonlyMap<string, string | undefined> = new Map([
  ["context_length_exceeded", undefined],
  ["model_context_window_exceeded", undefined],
  ["exceed_context_size_error", "llama.cpp"],
  ["model_max_prompt_tokens_exceeded", "copilot"],
  ["request_too_large", "anthropic"],
]);

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
    ...dropUndefined({ provider, limitTokens, requestedTokens }),
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

/**
 * One wording of "this does not fit the window". Named groups capture the counts: `input`, `output`, `limit`, and
 * `excess` (how far the input exceeds the limit).
 */
interface OverflowForm {
  /** Only set if this provider alone uses the wording. */
  readonly provider?: string;
  readonly pattern: RegExp;
}
