import type { Json } from "../../../../src/kernel/index.ts";
import { lines, type Sample } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const THREAD = "019a3c5e-7b11-7d02-8e21-5f0c9d7a1b22";

let tick = 0;
const line = (type: string, payload: Json): Json => ({
  timestamp: `2026-06-01T12:00:${String(tick++).padStart(2, "0")}.000Z`,
  type,
  payload,
});
const item = (payload: Json) => line("response_item", payload);
const event = (payload: Json) => line("event_msg", payload);
const usage = { input_tokens: 900, cached_input_tokens: 500, output_tokens: 40, reasoning_output_tokens: 8 };

/** Rollouts of the current version and of old ones whose lines had no type. */
export const codexSamples: readonly Sample[] = [
  {
    format: "codex",
    name: "a rollout",
    files: {
      [`rollout-2026-06-01T12-00-00-${THREAD}.jsonl`]: lines(
        line("session_meta", {
          id: THREAD,
          timestamp: "2026-06-01T12:00:00.000Z",
          cwd: "/kitchen",
          originator: "codex_cli_rs",
          cli_version: "0.120.0",
          source: "cli",
          model_provider: "openai",
          base_instructions: { text: "You help in a kitchen." },
        }),
        line("turn_context", { turn_id: "1", cwd: "/kitchen", model: "gpt-5.5-codex", effort: "high" }),
        item({
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "The dough does not rise." },
            { type: "input_image", image_url: `data:image/png;base64,${PICTURE}` },
          ],
        }),
        event({ type: "user_message", message: "The dough does not rise.", images: null }),
        item({
          type: "reasoning",
          summary: [{ type: "summary_text", text: "Yeast?" }],
          content: null,
          encrypted_content: "gAAA",
        }),
        event({ type: "agent_reasoning", text: "Yeast?" }),
        item({
          type: "function_call",
          name: "shell",
          arguments: '{"command":["cat","dough"]}',
          call_id: "call_1",
        }),
        item({ type: "function_call_output", call_id: "call_1", output: '{"output":"flour","metadata":{}}' }),
        item({ type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch", call_id: "call_2" }),
        item({
          type: "custom_tool_call_output",
          call_id: "call_2",
          output: [{ type: "input_image", image_url: `data:image/png;base64,${PICTURE}` }],
        }),
        item({
          type: "web_search_call",
          id: "ws_1",
          status: "completed",
          action: { type: "search", query: "yeast" },
        }),
        event({ type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } }),
        item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "Add yeast." }] }),
        event({ type: "agent_message", message: "Add yeast." }),
        line("compacted", {
          message: "The dough lacks yeast.",
          replacement_history: [
            {
              type: "message",
              role: "user",
              content: [{ type: "input_text", text: "The dough does not rise." }],
            },
          ],
        }),
        event({ type: "thread_rolled_back", num_turns: 1 }),
        event({ type: "turn_aborted", reason: "interrupted" }),
      ),
    },
  },
  {
    format: "codex",
    name: "an old rollout",
    files: {
      [`rollout-2025-05-01T12-00-00-${THREAD}.jsonl`]: lines(
        { id: THREAD, timestamp: "2025-05-01T12:00:00.000Z", instructions: null },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Knead." }] },
        { record_type: "state" },
        { type: "function_call", name: "shell", arguments: "{}", call_id: "c" },
        { type: "function_call_output", call_id: "c", output: "kneaded" },
      ),
    },
  },
];
