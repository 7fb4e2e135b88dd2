import type { Json } from "../../../../src/kernel/index.ts";
import { json, lines, type Sample, text } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const SESSION = "5d7c1f7e-0a51-4c1e-9a4b-2f6d3c8b9e01";

const line = (
  type: string,
  uuid: string,
  parentUuid: string | null,
  rest: { [key: string]: Json },
): Json => ({
  parentUuid,
  isSidechain: false,
  userType: "external",
  cwd: "/garden",
  sessionId: SESSION,
  version: "2.1.40",
  gitBranch: "main",
  type,
  uuid,
  timestamp: "2026-05-04T08:00:01.000Z",
  ...rest,
});

const answer = (id: string, block: Json): Json => ({
  id,
  type: "message",
  role: "assistant",
  model: "claude-opus-4-6",
  content: [block],
  stop_reason: null,
  usage: { input_tokens: 3, cache_creation_input_tokens: 20, cache_read_input_tokens: 400, output_tokens: 7 },
});

const call = (id: string): Json => ({
  type: "tool_use",
  id,
  name: "Read",
  input: { file_path: "/garden/bed.ts" },
});
const result = (id: string, content: Json): Json => ({ type: "tool_result", tool_use_id: id, content });

/** A session with a sub-agent, a compaction and all other record types of Claude Code. */
export const claudeCodeSamples: readonly Sample[] = [
  {
    format: "claude-code",
    name: "a session",
    files: {
      [`${SESSION}.jsonl`]: lines(
        { type: "summary", summary: "Watering plan", leafUuid: "u-1" },
        {
          type: "file-history-snapshot",
          messageId: "u-1",
          snapshot: { messageId: "u-1", trackedFileBackups: {}, timestamp: "2026-05-04T08:00:00.000Z" },
          isSnapshotUpdate: false,
        },
        line("user", "u-1", null, {
          message: { role: "user", content: "Why does the tomato bed stay dry?" },
        }),
        line("assistant", "a-1", "u-1", {
          requestId: "req_1",
          message: answer("msg_1", {
            type: "thinking",
            thinking: "Look at the pump first.",
            signature: "c2ln",
          }),
        }),
        line("assistant", "a-2", "a-1", { requestId: "req_1", message: answer("msg_1", call("toolu_1")) }),
        line("progress", "p-1", "a-2", {
          toolUseID: "agent_msg_1",
          parentToolUseID: "toolu_1",
          data: {
            type: "agent_progress",
            agentId: "ab12",
            prompt: "Count the valves",
            normalizedMessages: [],
            message: {
              type: "assistant",
              uuid: "s-1",
              timestamp: "2026-05-04T08:00:02.000Z",
              message: answer("msg_s", call("toolu_s")),
            },
          },
        }),
        line("user", "u-2", "a-2", {
          sourceToolAssistantUUID: "a-2",
          toolUseResult: {
            type: "text",
            file: {
              filePath: "/garden/bed.ts",
              content: "pump.off()",
              numLines: 1,
              startLine: 1,
              totalLines: 1,
            },
          },
          message: { role: "user", content: [result("toolu_1", "     1→pump.off()")] },
        }),
        line("user", "u-3", "u-2", {
          message: {
            role: "user",
            content: [
              { type: "text", text: "This is how it looks." },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
            ],
          },
        }),
        line("system", "c-1", null, {
          subtype: "compact_boundary",
          logicalParentUuid: "u-3",
          content: "Conversation compacted",
          compactMetadata: { trigger: "auto", preTokens: 155000 },
        }),
        line("user", "u-4", "c-1", {
          isCompactSummary: true,
          isVisibleInTranscriptOnly: true,
          message: { role: "user", content: "The pump was off; the bed is dry." },
        }),
        {
          type: "content-replacement",
          sessionId: SESSION,
          replacements: [{ kind: "tool-result", toolUseId: "toolu_1", replacement: "[shortened]" }],
        },
        line("attachment", "t-1", "u-4", {
          attachment: { type: "queued_command", prompt: "and the roses?" },
        }),
        line("assistant", "a-3", "t-1", {
          message: answer("msg_2", { type: "text", text: "I turn it on." }),
        }),
        { type: "queue-operation", operation: "enqueue", sessionId: SESSION, content: "and the roses?" },
        { type: "custom-title", sessionId: SESSION, customTitle: "Dry tomatoes" },
      ),
      [`${SESSION}/tool-results/toolu_1.txt`]: text("pump.off()\n".repeat(20)),
      [`${SESSION}/subagents/agent-ab12.jsonl`]: lines(
        line("user", "s-0", null, {
          isSidechain: true,
          agentId: "ab12",
          message: { role: "user", content: "Count the valves" },
        }),
        line("assistant", "s-1", "s-0", {
          isSidechain: true,
          agentId: "ab12",
          message: answer("msg_s", { type: "text", text: "Seven." }),
        }),
      ),
      [`${SESSION}/subagents/agent-ab12.meta.json`]: json({ agentType: "Explore" }),
    },
  },
];
