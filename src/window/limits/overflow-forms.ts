/**
 * One wording of "this does not fit the window". Named groups capture the counts: `input`, `output`, `limit`, and
 * `excess` (how far the input exceeds the limit).
 */
interface OverflowForm {
  /** Only set if this provider alone uses the wording. */
  readonly provider?: string;
  readonly pattern: RegExp;
}

/** Wordings that can only mean a window overflow, more specific ones first. */
export const OVERFLOW_FORMS: readonly OverflowForm[] = [
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
export const OVERFLOW_CODES: ReadonlyMap<string, string | undefined> = new Map([
  ["context_length_exceeded", undefined],
  ["model_context_window_exceeded", undefined],
  ["exceed_context_size_error", "llama.cpp"],
  ["model_max_prompt_tokens_exceeded", "copilot"],
  ["request_too_large", "anthropic"],
]);
