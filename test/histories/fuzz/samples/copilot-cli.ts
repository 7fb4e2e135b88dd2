import type { Json } from "../../../../src/kernel/index.ts";
import { lines, type Sample } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const ID = "b7c8d9e0-1f2a-4b3c-8d4e-5f6a7b8c9d0e";

let last: string | null = null;
const event = (type: string, data: Json): Json => {
  const parentId = last;
  last = `event-${type}-${parentId?.length ?? 0}`;
  return { type, data, id: last, timestamp: "2026-08-01T06:00:00.000Z", parentId };
};

/** A session of Copilot CLI. */
export const copilotCliSamples: readonly Sample[] = [
  {
    format: "copilot-cli",
    name: "a session",
    files: {
      [`${ID}/events.jsonl`]: lines(
        event("session.start", {
          sessionId: ID,
          version: 1,
          copilotVersion: "1.0",
          context: { cwd: "/shop" },
        }),
        event("system.message", { role: "system", content: "You mind a shop." }),
        event("user.message", {
          content: "What is left?",
          transformedContent: "<now/> What is left?",
          attachments: [{ type: "file", path: "/shop/list.txt", displayName: "list.txt" }],
          interactionId: "i1",
        }),
        event("assistant.turn_start", { turnId: "0", interactionId: "i1" }),
        event("assistant.message", {
          messageId: "m1",
          model: "gpt-5",
          content: "I look.",
          reasoningText: "The shelf.",
          toolRequests: [{ toolCallId: "c1", name: "view", arguments: { path: "/shop" }, type: "function" }],
          outputTokens: 12,
        }),
        event("tool.execution_start", { toolCallId: "c1", toolName: "view", arguments: { path: "/shop" } }),
        event("tool.execution_complete", {
          toolCallId: "c1",
          success: true,
          result: {
            content: "three apples",
            detailedContent: "three apples",
            contents: [{ type: "image", data: PICTURE, mimeType: "image/png" }],
          },
        }),
        event("assistant.usage", {
          model: "gpt-5",
          inputTokens: 9,
          outputTokens: 3,
          cacheReadTokens: 1,
          cost: 1,
        }),
        event("session.compaction_start", {}),
        event("session.compaction_complete", {
          success: true,
          summaryContent: "Apples.",
          preCompactionTokens: 9,
        }),
        event("session.truncation", { messagesRemovedDuringTruncation: 1, tokenLimit: 100 }),
        event("assistant.turn_end", { turnId: "0" }),
        event("session.shutdown", {
          shutdownType: "routine",
          modelMetrics: {
            "gpt-5": { requests: { count: 1, cost: 1 }, usage: { inputTokens: 9, outputTokens: 3 } },
          },
        }),
      ),
    },
  },
];
