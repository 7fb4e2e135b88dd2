import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The id of the n-th generated conversation. */
export function conversationId(number: number): string {
  return `${String(number).padStart(8, "0")}-1111-4222-8333-444455556666`;
}

/** Lines that Claude Code would write for a question and its answer. */
export function turnLines(id: string, turn: number, words = `question ${turn}`): string {
  const common = {
    sessionId: id,
    cwd: "/project",
    version: "2.0.0",
    userType: "external",
    isSidechain: false,
  };
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, turn % 60, second)).toISOString();
  const question = {
    ...common,
    type: "user",
    uuid: `${id}-u${turn}`,
    parentUuid: turn === 0 ? null : `${id}-a${turn - 1}`,
    timestamp: at(0),
    message: { role: "user", content: words },
  };
  const answer = {
    ...common,
    type: "assistant",
    uuid: `${id}-a${turn}`,
    parentUuid: `${id}-u${turn}`,
    timestamp: at(1),
    message: {
      id: `msg-${turn}`,
      role: "assistant",
      model: "model-1",
      content: [
        { type: "text", text: `answer ${turn}` },
        {
          type: "tool_use",
          id: `${id}-call-${turn}`,
          name: "Read",
          input: { file_path: "notes.md", limit: 5 },
        },
      ],
      usage: { input_tokens: 10, output_tokens: 20 },
    },
  };
  return `${JSON.stringify(question)}\n${JSON.stringify(answer)}\n`;
}

/** Writes a Claude Code conversation into a home folder; returns its file. */
export function writeConversation(home: string, number: number, turns: number): string {
  const id = conversationId(number);
  const path = join(home, ".claude", "projects", "-project", `${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Array.from({ length: turns }, (_, turn) => turnLines(id, turn)).join(""));
  return path;
}
