import { describe, expect, test } from "vitest";
import { detectPoison, type Poison } from "../../../src/window/limits/poison.ts";
import type { ProviderFailure } from "../../../src/wire/provider-failure.ts";

const anthropic = (message: string): ProviderFailure => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message } },
});
const openai = (
  message: string,
  code: string | null = null,
  param: string | null = null,
): ProviderFailure => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param, code } },
});
const google = (message: string): ProviderFailure => ({
  status: 400,
  body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } },
});

const poisons: [string, ProviderFailure, Omit<Poison, "message">][] = [
  [
    "thinking behind a changed prefix, on Messages and count_tokens",
    anthropic(
      'messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.',
    ),
    { kind: "thinking", path: { message: 5, block: 0 } },
  ],
  [
    "redacted thinking behind a changed prefix",
    anthropic(
      "messages.11.content.2: Invalid `signature` in `redacted_thinking` block. The block is bound to a different conversation.",
    ),
    { kind: "thinking", path: { message: 11, block: 2 } },
  ],
  [
    "thinking behind a changed prefix, on Bedrock",
    {
      status: 400,
      body: {
        __type: "ValidationException",
        message:
          "The model returned the following errors: messages.3.content.1: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
      },
    },
    { kind: "thinking", path: { message: 3, block: 1 } },
  ],
  [
    "thinking behind a changed prefix, on Google Cloud, which wraps the error of the model",
    {
      status: 400,
      body: [
        {
          error: {
            code: 400,
            status: "INVALID_ARGUMENT",
            message: JSON.stringify({
              type: "error",
              error: {
                type: "invalid_request_error",
                message:
                  "messages.7.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
              },
            }),
          },
        },
      ],
    },
    { kind: "thinking", path: { message: 7, block: 0 } },
  ],
  [
    "a reply without its reasoning, on DeepSeek V4",
    openai("The `reasoning_content` in the thinking mode must be passed back to the API."),
    { kind: "missing-reasoning" },
  ],
  [
    "a reply without its reasoning, on DeepSeek V3.2",
    openai("Missing `reasoning_content` field in the assistant message at message index 4."),
    { kind: "missing-reasoning", path: { message: 4 } },
  ],
  [
    "a reply without its reasoning, on Kimi",
    openai("thinking is enabled but reasoning_content is missing in assistant tool call message at index 9"),
    { kind: "missing-reasoning", path: { message: 9 } },
  ],
  [
    "an image of too many bytes",
    anthropic(
      "messages.38.content.1.image.source.base64: image exceeds 5 MB maximum: 7894984 bytes > 5242880 bytes",
    ),
    { kind: "image", path: { message: 38, block: 1 } },
  ],
  [
    "an image inside a tool result",
    anthropic(
      "messages.168.content.0.tool_result.content.1.image.source.base64: image exceeds 5 MB maximum: 5649924 bytes > 5242880 bytes",
    ),
    { kind: "image", path: { message: 168, block: 0, inner: 1 } },
  ],
  [
    "an image of too many pixels",
    anthropic(
      "messages.39.content.38.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    ),
    { kind: "image", path: { message: 39, block: 38 } },
  ],
  ["an image that cannot be read", anthropic("Could not process image"), { kind: "image" }],
  [
    "an image named by its code",
    openai("The image is not valid.", "invalid_image_format", "input[3].content[1].image_url"),
    { kind: "image", path: { message: 3, block: 1 } },
  ],
  [
    "an image that OpenAI does not support",
    openai(
      "You uploaded an unsupported image. Please make sure your image is below 20 MB in size and is of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      "sanitizer_server_error",
    ),
    { kind: "image" },
  ],
  [
    "a media type that is not supported",
    anthropic(
      "messages.0.content.1.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ),
    { kind: "media-type", path: { message: 0, block: 1 } },
  ],
  ["a media type at Google", google("Unsupported MIME type: image/svg+xml"), { kind: "media-type" }],
  [
    "a document of too many pages",
    anthropic("messages.4.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided."),
    { kind: "document", path: { message: 4, block: 0 } },
  ],
  [
    "calls without results",
    anthropic(
      "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A, toolu_01B. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    ),
    { kind: "orphan-call", path: { message: 6 }, callIds: ["toolu_01A", "toolu_01B"] },
  ],
  [
    "a result without its call",
    anthropic(
      "messages.48.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_019. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    ),
    { kind: "orphan-result", path: { message: 48, block: 1 }, callIds: ["toolu_019"] },
  ],
  [
    "calls without results at OpenAI",
    openai(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_jJ, call_kK",
      null,
      "messages.[3].role",
    ),
    { kind: "orphan-call", path: { message: 3 }, callIds: ["call_jJ", "call_kK"] },
  ],
  [
    "calls without results where no id is told",
    openai(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
    ),
    { kind: "orphan-call" },
  ],
  [
    "a tool message without its call",
    openai(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      null,
      "messages.[4].role",
    ),
    { kind: "orphan-result", path: { message: 4 } },
  ],
  [
    "an output without its call in Responses",
    openai("No tool call found for function call output with call_id call_uO7.", null, "input"),
    { kind: "orphan-result", callIds: ["call_uO7"] },
  ],
  [
    "a call without its output in Responses",
    openai("No tool output found for function call call_x1.", null, "input"),
    { kind: "orphan-call", callIds: ["call_x1"] },
  ],
  [
    "calls without results at Bedrock",
    {
      status: 400,
      message:
        "ValidationException: Expected toolResult blocks at messages.2.content for the following Ids: tooluse_a1, tooluse_b2",
    },
    { kind: "orphan-call", path: { message: 2 }, callIds: ["tooluse_a1", "tooluse_b2"] },
  ],
  [
    "unpaired parts at Google",
    google(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    ),
    { kind: "unpaired" },
  ],
  [
    "a signature that is not valid",
    anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"),
    { kind: "reasoning", path: { message: 1, block: 0 } },
  ],
  [
    "thinking that was changed",
    anthropic(
      "messages.3.content.9: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    ),
    { kind: "reasoning", path: { message: 3, block: 9 } },
  ],
  [
    "reasoning without what followed it",
    openai(
      "Item 'rs_0a1' of type 'reasoning' was provided without its required following item.",
      null,
      "input",
    ),
    { kind: "reasoning", itemId: "rs_0a1" },
  ],
  ["an empty text", anthropic("messages: text content blocks must be non-empty"), { kind: "empty" }],
  [
    "an empty message",
    anthropic(
      "messages.7: all messages must have non-empty content except for the optional final assistant message",
    ),
    { kind: "empty", path: { message: 7 } },
  ],
  [
    "a text that is too long",
    openai(
      "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1500000 instead.",
      "string_above_max_length",
      "messages[1].content",
    ),
    { kind: "long-text", path: { message: 1 } },
  ],
  [
    "an error that a proxy has wrapped",
    {
      status: 400,
      body: {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: {
            raw: JSON.stringify({
              error: {
                message:
                  "messages.12.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01J.",
              },
            }),
          },
        },
      },
    },
    { kind: "orphan-result", path: { message: 12, block: 0 }, callIds: ["toolu_01J"] },
  ],
];

const others: [string, ProviderFailure][] = [
  ["an overflow", anthropic("prompt is too long: 210000 tokens > 200000 maximum")],
  [
    "a rate limit",
    { status: 429, body: { error: { message: "Could not process image: rate limit reached" } } },
  ],
  [
    "a model without vision",
    { status: 404, body: { error: { message: "No endpoints found that support image input" } } },
  ],
  [
    "a wrong parameter",
    openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model.",
      "unsupported_parameter",
      "max_tokens",
    ),
  ],
  ["a broken server", { status: 500, body: "Internal Server Error" }],
];

describe("detectPoison", () => {
  test.each(poisons)("detectPoison finds %s", (_name, failure, expected) => {
    const { message, ...poison } = detectPoison(failure) as Poison;
    expect(poison).toEqual(expected);
    expect(message).not.toBe("");
  });

  test.each(others)("detectPoison finds nothing in %s", (_name, failure) => {
    expect(detectPoison(failure)).toBeUndefined();
  });
});
