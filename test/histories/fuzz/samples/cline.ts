import type { Json } from "../../../../src/kernel/index.ts";
import { json, type Sample } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const TASK = "1771000000000";
const ROO_TASK = "7c0e8a52-3f4b-4d7e-9d21-0a1b2c3d4e5f";
const at = (offset: number) => 1_771_000_000_000 + offset;

const conversation: Json[] = [
  { role: "user", content: [{ type: "text", text: "<task>\nTune the piano\n</task>" }], ts: at(0) },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Which key?", signature: "s" },
      { type: "text", text: "I listen." },
      { type: "tool_use", id: "t1", name: "read_file", input: { path: "keys.txt" } },
    ],
    modelInfo: { modelId: "claude", providerId: "anthropic", mode: "act" },
    metrics: { tokens: { prompt: 10, completion: 5, cached: 3 }, cost: 0.1 },
    ts: at(10),
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a4 is flat" }] },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
    ],
    ts: at(20),
  },
  { role: "assistant", content: "Done.", ts: at(30) },
];

const request = JSON.stringify({
  request: "…",
  tokensIn: 9,
  tokensOut: 4,
  cacheWrites: 1,
  cacheReads: 2,
  cost: 0.1,
});

const shown: Json[] = [
  {
    ts: at(0),
    type: "say",
    say: "text",
    text: "Tune the piano",
    images: [`data:image/png;base64,${PICTURE}`],
  },
  { ts: at(1), type: "say", say: "api_req_started", text: request, conversationHistoryIndex: -1 },
  { ts: at(2), type: "say", say: "reasoning", text: "Which key?", partial: false },
  {
    ts: at(5),
    type: "ask",
    ask: "tool",
    text: '{"tool":"readFile","path":"keys.txt"}',
    conversationHistoryIndex: 0,
  },
  { ts: at(8), type: "ask", ask: "command_output", text: "a4 is flat" },
  {
    ts: at(9),
    type: "say",
    say: "checkpoint_created",
    lastCheckpointHash: "abc",
    conversationHistoryDeletedRange: [2, 2],
  },
  { ts: at(30), type: "say", say: "completion_result", text: "Done." },
  { ts: at(31), type: "ask", ask: "resume_completed_task", text: "" },
];

/** A task of Cline. */
export const clineSamples: readonly Sample[] = [
  {
    format: "cline",
    name: "a task",
    files: {
      [`tasks/${TASK}/api_conversation_history.json`]: json(conversation),
      [`tasks/${TASK}/ui_messages.json`]: json(shown),
      [`tasks/${TASK}/context_history.json`]: json([
        [2, [2, [[0, [[at(40), "text", ["[shortened]"], [[]]]]]]]],
        [0, [0, [[0, [[at(41), "text", ["[cut]"], []]]]]]],
      ]),
      [`tasks/${TASK}/task_metadata.json`]: json({
        files_in_context: [{ path: "keys.txt", record_state: "active", record_source: "read_tool" }],
        model_usage: [{ ts: at(1), model_id: "claude", model_provider_id: "anthropic", mode: "act" }],
      }),
      "state/taskHistory.json": json([
        { id: TASK, ts: at(31), task: "Tune the piano", tokensIn: 9, tokensOut: 4, totalCost: 0.1 },
      ]),
    },
  },
  { format: "cline", name: "what was shown, alone", files: { "old/ui_messages.json": json(shown) } },
];

/** A task of Roo. */
export const rooSamples: readonly Sample[] = [
  {
    format: "roo",
    name: "a task",
    files: {
      [`tasks/${ROO_TASK}/api_conversation_history.json`]: json([
        ...conversation.map((message) => ({ ...(message as object), condenseParent: "c-1" })),
        { role: "user", content: "What was played so far.", ts: at(40), isSummary: true, condenseId: "c-1" },
        { role: "assistant", content: "On.", ts: at(41), truncationParent: "t-1" },
        { role: "user", content: "[hidden]", ts: at(42), isTruncationMarker: true, truncationId: "t-1" },
      ] as Json),
      [`tasks/${ROO_TASK}/ui_messages.json`]: json([
        ...shown,
        {
          ts: at(40),
          type: "say",
          say: "condense_context",
          contextCondense: { cost: 1, summary: "…", condenseId: "c-1" },
        },
      ]),
      [`tasks/${ROO_TASK}/history_item.json`]: json({
        id: ROO_TASK,
        number: 3,
        ts: at(50),
        task: "Tune the piano",
        workspace: "/hall",
        parentTaskId: "p",
      }),
    },
  },
];

/** A session of Cline's SDK. */
export const clineSdkSamples: readonly Sample[] = [
  {
    format: "cline-sdk",
    name: "a session",
    files: {
      "s1/s1.messages.json": json({
        version: 1,
        updated_at: "2026-07-01T09:00:00.000Z",
        agent: "lead",
        sessionId: "s1",
        origin: { source: "cli", mode: "user", sessionId: "s1" },
        system_prompt: "You tune.",
        messages: [
          {
            id: "m1",
            role: "user",
            content: [
              { type: "text", text: "Tune." },
              { type: "image", data: PICTURE, mediaType: "image/png" },
              { type: "file", path: "keys.txt", content: "a4" },
            ],
            ts: at(0),
          },
          {
            id: "m2",
            role: "assistant",
            content: [{ type: "tool_use", id: "c1", name: "read", input: { path: "keys.txt" } }],
            modelInfo: { id: "claude", provider: "anthropic" },
            metrics: { inputTokens: 5, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0, cost: 0.1 },
            ts: at(1),
          },
          {
            id: "m3",
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "c1", name: "read", content: "a4 is flat" }],
            ts: at(2),
          },
        ],
      }),
      "s1/s1.compaction.json": json({
        version: 1,
        updated_at: "2026-07-01T09:00:00.000Z",
        source_message_count: 2,
        source_prefix_hash: "sha256:00",
        messages: [{ role: "user", content: "Tuned so far." }],
      }),
      "s1/s1.json": json({
        version: 1,
        session_id: "s1",
        cwd: "/hall",
        prompt: "Tune.",
        metadata: { title: "Tune" },
      }),
    },
  },
];
