import type { Json } from "../../../../src/kernel/index.ts";
import { json, lines, type Sample } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const facts = {
  sessionId: "f0a1b2c3-d4e5-4f60-8a71-92b3c4d5e6f7",
  projectHash: "9d4c",
  startTime: "2026-02-03T10:00:00.000Z",
  lastUpdated: "2026-02-03T10:05:00.000Z",
};

const messages: Json[] = [
  {
    id: "g1",
    timestamp: "2026-02-03T10:00:01.000Z",
    type: "user",
    content: [{ text: "Paint the fence" }, { inlineData: { mimeType: "image/png", data: PICTURE } }],
  },
  {
    id: "g2",
    timestamp: "2026-02-03T10:00:02.000Z",
    type: "gemini",
    content: "Which colour?",
    model: "gemini-3-pro",
    thoughts: [{ subject: "Colour", description: "Blue?", timestamp: "2026-02-03T10:00:02.000Z" }],
    tokens: { input: 90, output: 5, cached: 40, thoughts: 2, tool: 1, total: 98 },
    toolCalls: [
      {
        id: "read-1",
        name: "read_file",
        args: { path: "fence" },
        result: [
          { functionResponse: { id: "read-1", name: "read_file", response: { output: "bare wood" } } },
        ],
        status: "success",
        timestamp: "2026-02-03T10:00:03.000Z",
        resultDisplay: "bare wood",
      },
    ],
  },
  { id: "g3", timestamp: "2026-02-03T10:00:04.000Z", type: "info", content: "An update is there." },
];

/** Conversations of Gemini CLI, as lines and as one file. */
export const geminiCliSamples: readonly Sample[] = [
  {
    format: "gemini-cli",
    name: "lines",
    files: {
      "9d4c/chats/session-2026-02-03T10-00-f0a1b2c3.jsonl": lines(
        { ...facts, kind: "main" },
        ...messages,
        { $set: { lastUpdated: "2026-02-03T10:05:00.000Z", summary: "A fence" } },
        { ...(messages[1] as object), content: "Blue it is." } as Json,
        { $rewindTo: "g3" },
        { $set: { messages: messages.slice(0, 1) } },
      ),
    },
  },
  {
    format: "gemini-cli",
    name: "one file",
    files: { "9d4c/chats/session-2026-02-03T10-00-f0a1b2c3.json": json({ ...facts, messages }) },
  },
];
