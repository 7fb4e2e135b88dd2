import { describe, expect, test } from "vitest";
import { detectOverflow } from "../../../src/window/limits/overflow.ts";
import type { ProviderFailure } from "../../../src/wire/provider-failure.ts";

const anthropic = (message: string, type = "invalid_request_error") => ({
  type: "error",
  error: { type, message },
  request_id: "req_1",
});
const openai = (
  message: string,
  code: string | null = "context_length_exceeded",
  type = "invalid_request_error",
) => ({
  error: { message, type, param: "messages", code },
});

interface Told {
  provider?: string;
  limitTokens?: number;
  requestedTokens?: number;
  outputTokens?: number;
}

const overflows: [string, ProviderFailure, Told][] = [
  [
    "Anthropic: prompt too long",
    { status: 400, body: anthropic("prompt is too long: 210000 tokens > 200000 maximum") },
    { provider: "anthropic", requestedTokens: 210_000, limitTokens: 200_000 },
  ],
  [
    "Anthropic: input and output together",
    {
      status: 400,
      body: anthropic(
        "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease input length or `max_tokens` and try again",
      ),
    },
    { provider: "anthropic", requestedTokens: 238_167, outputTokens: 64_000, limitTokens: 200_000 },
  ],
  [
    "Anthropic: request too large in bytes",
    { status: 413, body: anthropic("Request exceeds the maximum size", "request_too_large") },
    { provider: "anthropic" },
  ],
  [
    "Anthropic: stopped at the end of the window",
    { status: 200, body: { type: "message", content: [], stop_reason: "model_context_window_exceeded" } },
    {},
  ],
  [
    "Anthropic: the same in a stream event",
    { body: { type: "message_delta", delta: { stop_reason: "model_context_window_exceeded" } } },
    {},
  ],
  [
    "SGLang: input and output together",
    {
      status: 400,
      body: {
        object: "error",
        message:
          "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 41000 tokens: 39000 tokens from the input messages and 2000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
        type: "BadRequestError",
        code: 400,
      },
    },
    { provider: "sglang", requestedTokens: 41_000, outputTokens: 2_000, limitTokens: 32_768 },
  ],
  [
    "vLLM: the prompt alone",
    {
      status: 400,
      body: {
        object: "error",
        message:
          "The decoder prompt (length 50000) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.",
      },
    },
    { provider: "vllm", requestedTokens: 50_000, limitTokens: 32_768 },
  ],
  [
    "GLM",
    { status: 400, body: { error: { code: "1261", message: "Prompt exceeds max length" } } },
    { provider: "zhipu" },
  ],
  [
    "Qwen",
    {
      status: 400,
      body: openai(
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
        "invalid_parameter_error",
      ),
    },
    { provider: "alibaba", limitTokens: 204_800 },
  ],
  [
    "MiniMax, with the number of its error",
    { status: 400, body: anthropic("invalid params, context window exceeds limit (2013)") },
    { provider: "minimax" },
  ],
  [
    "Anthropic through Bedrock",
    {
      message:
        "ValidationException: The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum",
    },
    { requestedTokens: 200_049, limitTokens: 200_000 },
  ],
  [
    "a client's message with the body in it",
    { message: `400 ${JSON.stringify(anthropic("prompt is too long: 201130 tokens > 200000 maximum"))}` },
    { requestedTokens: 201_130, limitTokens: 200_000 },
  ],
  [
    "OpenAI Chat: messages and completion",
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 4096 tokens. However, you requested 4222 tokens (1222 in the messages, 3000 in the completion). Please reduce the length of the messages or completion.",
      ),
    },
    { limitTokens: 4096, requestedTokens: 4222, outputTokens: 3000 },
  ],
  [
    "OpenAI Chat: messages alone",
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
      ),
    },
    { limitTokens: 128_000, requestedTokens: 204_308 },
  ],
  [
    "OpenAI Responses",
    {
      body: {
        type: "response.failed",
        response: {
          status: "failed",
          error: {
            code: "context_length_exceeded",
            message:
              "Your input exceeds the context window of this model. Please adjust your input and try again.",
          },
        },
      },
    },
    { provider: "openai" },
  ],
  [
    "Google",
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
          status: "INVALID_ARGUMENT",
        },
      },
    },
    { provider: "google", requestedTokens: 1_200_293, limitTokens: 1_048_576 },
  ],
  [
    "Google, streamed as an array and wrapped as text",
    {
      body: JSON.stringify({
        error: {
          message: JSON.stringify([
            {
              error: {
                code: 400,
                message:
                  "The input token count (134123) exceeds the maximum number of tokens allowed (131072).",
                status: "INVALID_ARGUMENT",
              },
            },
          ]),
          code: 400,
          status: "Bad Request",
        },
      }),
    },
    { provider: "google", requestedTokens: 134_123, limitTokens: 131_072 },
  ],
  [
    "Bedrock: input too long",
    {
      status: 400,
      body: { __type: "ValidationException", message: "Input is too long for requested model." },
    },
    { provider: "bedrock" },
  ],
  [
    "Bedrock: too many bytes",
    { status: 400, body: { message: "too many total text bytes: 30000000 > 25000000" } },
    { provider: "bedrock" },
  ],
  [
    "OpenRouter",
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            'This endpoint\'s maximum context length is 32768 tokens. However, you requested about 42832 tokens (40832 of text input, 2000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
        },
      },
    },
    { provider: "openrouter", limitTokens: 32_768, requestedTokens: 42_832, outputTokens: 2000 },
  ],
  [
    "OpenRouter with the provider's error as text",
    {
      status: 400,
      body: {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: {
            raw: JSON.stringify(anthropic("prompt is too long: 202609 tokens > 200000 maximum")),
            provider_name: "Anthropic",
          },
        },
      },
    },
    { provider: "anthropic", requestedTokens: 202_609, limitTokens: 200_000 },
  ],
  [
    "Ollama: its llama.cpp runner",
    { status: 500, body: { error: "the input exceeds the available context size" } },
    { provider: "ollama" },
  ],
  [
    "Ollama: input length",
    { status: 400, body: { error: "the input length exceeds the context length" } },
    { provider: "ollama" },
  ],
  [
    "Ollama: input length, as its embedding routes say it",
    { status: 400, body: { error: "input length exceeds maximum context length" } },
    { provider: "ollama" },
  ],
  [
    "Ollama: its cloud models",
    { status: 400, body: { error: "prompt too long; exceeded max context length by 100918 tokens" } },
    { provider: "ollama" },
  ],
  [
    "a local server that names both numbers",
    {
      status: 400,
      body: { error: "Prompt has 140,000 tokens, but the configured context size is 131,072 tokens" },
    },
    { requestedTokens: 140_000, limitTokens: 131_072 },
  ],
  [
    "Ollama: its llama.cpp runner without context shift",
    {
      status: 400,
      body: {
        error: {
          message:
            "the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length",
          type: "invalid_request_error",
          param: null,
          code: null,
        },
      },
    },
    { provider: "ollama" },
  ],
  [
    "Ollama: its MLX runner",
    {
      status: 400,
      body: {
        error: "input length (140274 tokens) exceeds the model's maximum context length (131072 tokens)",
      },
    },
    { provider: "ollama", requestedTokens: 140_274, limitTokens: 131_072 },
  ],
  [
    "Cohere: the excess and the limit",
    {
      status: 400,
      body: {
        id: "bda42bf8-db3f-4c32-bb2c-f76466e42a1e",
        message:
          "too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs. The limit for this model is 132000 tokens.",
      },
    },
    { provider: "cohere", requestedTokens: 151_296, limitTokens: 132_000 },
  ],
  [
    "Cohere: the excess alone",
    {
      status: 400,
      body: {
        message:
          "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.",
      },
    },
    { provider: "cohere" },
  ],
  [
    "Cohere: the prompt alone",
    {
      status: 400,
      body: {
        message:
          "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating.",
      },
    },
    { provider: "cohere", requestedTokens: 4_292, limitTokens: 4_081 },
  ],
  [
    "Cohere: prompt and output together, without saying how much each",
    {
      status: 400,
      body: {
        message:
          "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.",
      },
    },
    { provider: "cohere", limitTokens: 2_048 },
  ],
  [
    "llama.cpp server, with counts as fields",
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            "the request exceeds the available context size. try increasing the context size or enable context shift",
          type: "exceed_context_size_error",
          n_prompt_tokens: 14_429,
          n_ctx: 8192,
        },
      },
    },
    { provider: "llama.cpp", requestedTokens: 14_429, limitTokens: 8192 },
  ],
  [
    "llama.cpp server, with counts in the text",
    {
      message:
        "400 request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it",
    },
    { provider: "llama.cpp", requestedTokens: 66_202, limitTokens: 65_536 },
  ],
  [
    "llama-cpp-python",
    { status: 400, body: { detail: "Requested tokens (2285) exceed context window of 2048" } },
    { requestedTokens: 2285, limitTokens: 2048 },
  ],
  [
    "vLLM: prompt and output",
    {
      status: 400,
      body: {
        object: "error",
        message:
          "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your prompt contains at least 134145 input tokens, for a total of at least 262145 tokens. (parameter=input_tokens, value=134145)",
        type: "BadRequestError",
        code: 400,
      },
    },
    { limitTokens: 262_144, requestedTokens: 262_145, outputTokens: 128_000 },
  ],
  [
    "vLLM: no room for the output",
    {
      status: 400,
      body: {
        error: {
          message:
            "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
          type: "BadRequestError",
          code: 400,
        },
      },
    },
    { limitTokens: 4096, requestedTokens: 4104, outputTokens: 2000 },
  ],
  [
    "LM Studio",
    {
      status: 400,
      body: {
        error:
          "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
      },
    },
    { provider: "lmstudio", requestedTokens: 13_055, limitTokens: 4096 },
  ],
  [
    "LM Studio, newer and with status 200",
    { status: 200, body: { error: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)" } },
    { provider: "lmstudio", requestedTokens: 15_028, limitTokens: 7424 },
  ],
  [
    "LM Studio, older",
    {
      message:
        "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough.",
    },
    { provider: "lmstudio", requestedTokens: 10_136, limitTokens: 7866 },
  ],
  [
    "Mistral",
    {
      status: 400,
      body: {
        object: "error",
        message:
          "Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
        type: "invalid_request_prompt",
        code: "3051",
      },
    },
    { provider: "mistral", requestedTokens: 150_000, limitTokens: 131_072 },
  ],
  ["Groq", { status: 400, body: openai("Please reduce the length of the messages or completion.") }, {}],
  [
    "xAI",
    {
      status: 400,
      body: {
        code: "Client specified an invalid argument",
        error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
      },
    },
    { provider: "xai", requestedTokens: 136_973, limitTokens: 131_072 },
  ],
  [
    "DeepSeek",
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion).",
        "invalid_request_error",
      ),
    },
    { limitTokens: 131_072, requestedTokens: 131_134, outputTokens: 8192 },
  ],
  [
    "SGLang",
    { message: "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)." },
    { requestedTokens: 160_062, limitTokens: 59_862 },
  ],
  ["a code without a message", { status: 400, body: { error: { code: "context_length_exceeded" } } }, {}],
  ["a bare 413", { status: 413 }, {}],
  ["a proxy's 413", { status: 413, body: "<html><h1>413 Request Entity Too Large</h1></html>" }, {}],
];

const others: [string, ProviderFailure][] = [
  [
    "Cohere: more output than the model can say",
    {
      status: 400,
      body: {
        message:
          "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
      },
    },
  ],
  [
    "tokens per minute at Groq, as 413",
    {
      status: 413,
      body: {
        error: {
          message:
            "Request too large for model `llama` in organization `org` on tokens per minute (TPM): Limit 6000, Requested 14368, please reduce your message size and try again.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
    },
  ],
  [
    "tokens per minute at OpenAI",
    {
      status: 429,
      body: openai(
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.",
        "rate_limit_exceeded",
        "tokens",
      ),
    },
  ],
  [
    "a rate limit of input tokens at Anthropic",
    {
      status: 429,
      body: anthropic(
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
        "rate_limit_error",
      ),
    },
  ],
  [
    "throttling at Bedrock",
    { body: { __type: "ThrottlingException", message: "Too many tokens, please wait before trying again." } },
  ],
  ["an overflow wording under 429", { status: 429, message: "prompt is too long" }],
  ["quota at OpenAI", { status: 429, body: openai("You exceeded your current quota", "insufficient_quota") }],
  [
    "quota at Google",
    {
      status: 429,
      body: {
        error: {
          code: 429,
          message: "Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000",
          status: "RESOURCE_EXHAUSTED",
        },
      },
    },
  ],
  [
    "too few credits at OpenRouter",
    {
      status: 402,
      body: {
        error: {
          code: 402,
          message:
            "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 2000.",
        },
      },
    },
  ],
  [
    "too large an output at Anthropic",
    {
      status: 400,
      body: anthropic(
        "max_tokens: 21333 > 4096, which is the maximum allowed number of output tokens for claude-3-opus",
      ),
    },
  ],
  [
    "too large an output at OpenAI",
    {
      status: 400,
      body: openai(
        "max_tokens is too large: 128000. This model supports at most 16384 completion tokens.",
        "invalid_value",
      ),
    },
  ],
  [
    "too large an output at Groq",
    { status: 400, message: "`max_tokens` must be less than or equal to `16384`" },
  ],
  [
    "an output that alone fills the window",
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 4096 tokens. However, you requested 8200 tokens (100 in the messages, 8100 in the completion).",
      ),
    },
  ],
  [
    "an image that is too large",
    {
      status: 400,
      body: anthropic(
        "messages.38.content.0.image.source.base64: image exceeds 5 MB maximum: 7894984 bytes > 5242880 bytes",
      ),
    },
  ],
  [
    "a file that is too large, as 413",
    { status: 413, body: { error: { message: "Image file content too large" } } },
  ],
  [
    "one string that is too long",
    {
      status: 400,
      body: openai(
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1500000 instead.",
        "string_above_max_length",
      ),
    },
  ],
  [
    "an orphan",
    {
      status: 400,
      body: anthropic(
        "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
      ),
    },
  ],
  ["an overload", { status: 529, body: anthropic("Overloaded", "overloaded_error") }],
  ["an answer cut at its own limit", { status: 200, body: { stop_reason: "max_tokens", content: [] } }],
  [
    "an answer that speaks of overflow",
    {
      status: 200,
      body: {
        stop_reason: "tool_use",
        content: [{ type: "tool_use", input: { message: "prompt is too long: 5 tokens > 4 maximum" } }],
      },
    },
  ],
  ["nothing at all", {}],
  ["a body of another kind", { status: 500, body: 7 }],
];

describe("detectOverflow", () => {
  test.each(overflows)("detectOverflow recognizes %s", (_name, failure, told) => {
    const overflow = detectOverflow(failure);
    expect(overflow).toMatchObject(told);
    expect(overflow?.message).not.toBe("");
  });

  test.each(overflows)(
    "detectOverflow reports only counts that the error contains: %s",
    (_name, failure, told) => {
      const { limitTokens, requestedTokens, outputTokens } = detectOverflow(failure) ?? {};
      expect({ limitTokens, requestedTokens, outputTokens }).toEqual({
        limitTokens: told.limitTokens,
        requestedTokens: told.requestedTokens,
        outputTokens: told.outputTokens,
      });
    },
  );

  test.each(others)("detectOverflow does not report an overflow for %s", (_name, failure) => {
    expect(detectOverflow(failure)).toBeUndefined();
  });

  test("detectOverflow survives a body that contains itself", () => {
    const body: Record<string, unknown> = { message: "broken" };
    for (const key of ["cause", "error", "errors", "details", "response", "data", "body", "delta"])
      body[key] = body;
    expect(detectOverflow({ status: 500, body })).toBeUndefined();
  });
});
