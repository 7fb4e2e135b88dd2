import type { Json } from "../../../../src/kernel/index.ts";
import { json, lines, type Sample, type SampleFile } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const ID = "0199b0c1-pi";
const usage = { input: 10, output: 2, cacheRead: 5, cacheWrite: 1, totalTokens: 18, cost: { total: 0.01 } };

const entry = (type: string, id: string, parentId: string | null, rest: { [key: string]: Json }): Json => ({
  type,
  id,
  parentId,
  timestamp: "2026-04-01T07:00:00.000Z",
  ...rest,
});

const entries: Json[] = [
  { type: "session", version: 3, id: ID, timestamp: "2026-04-01T07:00:00.000Z", cwd: "/forest" },
  entry("message", "e1", null, {
    message: {
      role: "user",
      content: [
        { type: "text", text: "Count the trees" },
        { type: "image", data: PICTURE, mimeType: "image/png" },
      ],
      timestamp: 1_775_000_000_000,
    },
  }),
  entry("message", "e2", "e1", {
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "One by one.", thinkingSignature: "s" },
        { type: "toolCall", id: "c1", name: "read", arguments: { path: "trees" } },
      ],
      provider: "anthropic",
      model: "claude",
      usage,
      stopReason: "toolUse",
      timestamp: 1_775_000_000_001,
    },
  }),
  entry("message", "e3", "e2", {
    message: {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content: [{ type: "text", text: "oak" }],
    },
  }),
  entry("message", "e4", "e3", {
    message: {
      role: "bashExecution",
      command: "ls",
      output: "oak",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    },
  }),
  entry("context_edit", "e5", "e4", { targetId: "e3", replacement: [{ type: "text", text: "[trees]" }] }),
  entry("compaction", "e6", "e5", { summary: "One oak.", firstKeptEntryId: "e3", tokensBefore: 9000, usage }),
  entry("branch_summary", "e7", "e2", { fromId: "e6", summary: "Tried counting." }),
  entry("custom_message", "e8", "e7", { customType: "note", content: "hm", display: true }),
  entry("custom", "e9", "e8", { customType: "openclaw.cache-ttl", data: { ttl: 5 } }),
  entry("model_change", "ea", "e9", { provider: "openai", modelId: "gpt" }),
  entry("label", "eb", "ea", { targetId: "e1", label: "start" }),
  entry("session_info", "ec", "eb", { name: "Trees" }),
];

const SCHEMA = `
  CREATE TABLE session_windows (session_id TEXT PRIMARY KEY);
  CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, event_zstd BLOB,
    event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq));
  CREATE TABLE session_transcript_active_events (session_id TEXT, active_position INTEGER, event_seq INTEGER);`;

const database: SampleFile = {
  kind: "database",
  schema: SCHEMA,
  values: [
    { table: "session_windows", row: { session_id: ID } },
    ...entries.map((event, seq) => ({
      table: "transcript_events",
      row: { session_id: ID, seq, event_json: event, created_at: 1_775_000_000_000 + seq },
    })),
    ...[0, 1, 2, 7].map((seq, position) => ({
      table: "session_transcript_active_events",
      row: { session_id: ID, active_position: position, event_seq: seq },
    })),
  ],
};

/** A session of pi. */
export const piSamples: readonly Sample[] = [
  { format: "pi", name: "a session", files: { [`2026-04-01T07-00-00-000Z_${ID}.jsonl`]: lines(...entries) } },
  {
    format: "pi",
    name: "a session of version 1",
    files: {
      "old.jsonl": lines(
        {
          type: "session",
          id: ID,
          timestamp: "2025-04-01T07:00:00.000Z",
          cwd: "/forest",
          provider: "x",
          modelId: "y",
        },
        {
          type: "message",
          timestamp: "2025-04-01T07:00:01.000Z",
          message: { role: "user", content: "Count" },
        },
        { type: "compaction", timestamp: "2025-04-01T07:00:02.000Z", summary: "…", firstKeptEntryIndex: 1 },
      ),
    },
  },
];

/** Sessions of OpenClaw, as files and in a database. */
export const openclawSamples: readonly Sample[] = [
  {
    format: "openclaw",
    name: "a session file",
    files: {
      [`agents/main/sessions/${ID}.jsonl`]: lines(...entries, entry("reset", "ed", "ec", {})),
      "agents/main/sessions/sessions.json": json({
        "agent:main:main": { sessionId: ID, sessionFile: `${ID}.jsonl`, updatedAt: 1, compactionCount: 1 },
      }),
    },
  },
  { format: "openclaw", name: "a database", files: { "agents/main/agent/openclaw-agent.sqlite": database } },
];
