import type { Json } from "../../../../src/kernel/index.ts";
import { json, lines, type Sample } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const PICTURE_URL = `data:image/png;base64,${PICTURE}`;

const anthropicMessages: Json[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Ring the bell" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "How loud?", signature: "s" },
      { type: "tool_use", id: "t1", name: "ring", input: { times: 3 } },
    ],
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: "no rope" }] },
];

const chatMessages: Json[] = [
  { role: "system", content: "You ring." },
  {
    role: "user",
    content: [
      { type: "text", text: "Ring the bell" },
      { type: "image_url", image_url: { url: PICTURE_URL } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "ring", arguments: '{"times":3}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: "no rope" },
];

const responsesInput: Json[] = [
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "Ring" },
      { type: "input_image", image_url: PICTURE_URL },
    ],
  },
  {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "How loud?" }],
    encrypted_content: "g",
  },
  { type: "function_call", id: "fc_1", call_id: "c1", name: "ring", arguments: '{"times":3}' },
  { type: "function_call_output", call_id: "c1", output: "no rope" },
  { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "No rope." }] },
];

const modelMessages: Json[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Ring" },
      { type: "image", image: PICTURE, mediaType: "image/png" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "How loud?", providerOptions: { anthropic: { signature: "s" } } },
      { type: "tool-call", toolCallId: "c1", toolName: "ring", input: { times: 3 } },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "c1", toolName: "ring", output: { type: "text", value: "no rope" } },
    ],
  },
];

const uiMessages: Json[] = [
  {
    id: "u1",
    role: "user",
    parts: [
      { type: "text", text: "Ring" },
      { type: "file", mediaType: "image/png", url: PICTURE_URL },
    ],
  },
  {
    id: "u2",
    role: "assistant",
    metadata: { createdAt: "2026-01-01T00:00:00.000Z", usage: { inputTokens: 5, outputTokens: 2 } },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "How loud?", state: "done" },
      {
        type: "tool-ring",
        toolCallId: "c1",
        state: "output-available",
        input: { times: 3 },
        output: "no rope",
      },
      { type: "step-start" },
      { type: "text", text: "No rope." },
    ],
  },
];

/** Conversations as providers and libraries write them. */
export const wireSamples: readonly Sample[] = [
  {
    format: "anthropic",
    name: "a request and its response",
    files: {
      "call.json": json({
        request: {
          model: "claude",
          system: [{ type: "text", text: "You ring." }],
          messages: anthropicMessages,
        },
        response: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude",
          content: [{ type: "text", text: "No rope." }],
          stop_reason: "end_turn",
          usage: { input_tokens: 5, output_tokens: 2 },
        },
      }),
    },
  },
  { format: "anthropic", name: "messages, one a line", files: { "log.jsonl": lines(...anthropicMessages) } },
  {
    format: "openai-chat",
    name: "a request",
    files: { "request.json": json({ model: "gpt", messages: chatMessages, temperature: 1 }) },
  },
  { format: "openai-chat", name: "messages, one a line", files: { "log.jsonl": lines(...chatMessages) } },
  {
    format: "openai-responses",
    name: "a request",
    files: { "request.json": json({ model: "gpt", instructions: "You ring.", input: responsesInput }) },
  },
  {
    format: "openai-responses",
    name: "items, one a line",
    files: { "items.jsonl": lines(...responsesInput) },
  },
  { format: "ai-sdk", name: "model messages", files: { "messages.json": json(modelMessages) } },
  {
    format: "ai-sdk",
    name: "UI messages",
    files: { "chat.json": json({ id: "chat", messages: uiMessages }) },
  },
];
