import type { WireSample } from "../../src/stores/testing/index.ts";
import type { WireName, WireObject } from "../../src/wire/wire.ts";
import type { Reply } from "../support/wire-server/behaviour.ts";
import { spoken, spokenWhole } from "./spoken.ts";

const reply: Reply = {
  text: "Reading the file.",
  toolCalls: [{ id: "call_7", name: "read", input: { path: "a.ts", lines: [1, 2] } }],
  usage: { input: 900, output: 40, cacheRead: 300, cacheWrite: 100 },
};

function sampleReply(name: WireName): Pick<WireSample, "events" | "body"> {
  return { events: spoken(name, reply), body: JSON.parse(spokenWhole(name, reply)) as WireObject };
}

const UNKNOWN = { x_unknown: "kept" };
const BLOCK = { x_block: "kept" };

/** Traffic of each provider, for the conformance suite. */
export const WIRE_SAMPLES: Readonly<Record<WireName, WireSample>> = {
  anthropic: {
    ...sampleReply("anthropic"),
    elements: [
      { role: "user", content: [{ type: "text", text: "Read a.ts", ...BLOCK }], ...UNKNOWN },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Where is it?", signature: "c2lnbmVk" },
          { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.ts" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "let a;" }] },
    ],
    report: {
      input_tokens: 12,
      output_tokens: 340,
      cache_read_input_tokens: 9_000,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 200 },
    },
    usage: {
      inputTokens: 12,
      outputTokens: 340,
      cacheReadTokens: 9_000,
      cacheWriteTokens: 700,
      cacheWriteHourTokens: 200,
    },
  },
  "openai-chat": {
    ...sampleReply("openai-chat"),
    elements: [
      { role: "user", content: [{ type: "text", text: "Read a.ts", ...BLOCK }], ...UNKNOWN },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a.ts"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "let a;" },
    ],
    report: {
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_tokens_details: { cached_tokens: 800 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    usage: { inputTokens: 200, outputTokens: 50, cacheReadTokens: 800, reasoningTokens: 20 },
  },
  "openai-responses": {
    ...sampleReply("openai-responses"),
    elements: [
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Read a.ts", ...BLOCK }],
        ...UNKNOWN,
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "read",
        arguments: '{"path":"a.ts"}',
      },
      { type: "function_call_output", call_id: "call_1", output: "let a;" },
    ],
    report: {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 900 },
      output_tokens: 60,
      output_tokens_details: { reasoning_tokens: 32 },
    },
    usage: { inputTokens: 100, outputTokens: 60, cacheReadTokens: 900, reasoningTokens: 32 },
  },
  google: {
    ...sampleReply("google"),
    elements: [
      { role: "user", parts: [{ text: "Read a.ts", ...BLOCK }], ...UNKNOWN },
      {
        role: "model",
        parts: [
          { text: "Where is it?", thought: true, thoughtSignature: "c2lnbmVk" },
          {
            functionCall: { id: "call_1", name: "read", args: { path: "a.ts" } },
            thoughtSignature: "c2lnbg==",
          },
        ],
      },
      {
        role: "user",
        parts: [{ functionResponse: { id: "call_1", name: "read", response: { output: "let a;" } } }],
      },
    ],
    report: {
      promptTokenCount: 9_500,
      cachedContentTokenCount: 9_000,
      candidatesTokenCount: 300,
      thoughtsTokenCount: 40,
      totalTokenCount: 9_840,
    },
    usage: { inputTokens: 500, outputTokens: 340, cacheReadTokens: 9_000, reasoningTokens: 40 },
  },
};
