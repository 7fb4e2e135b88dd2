import { toObject, toText } from "../../wire/fields.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import {
  buildAgentIdentity,
  buildTranscriptIdentity,
  getAgentFacts,
  getAgentId,
  getTranscriptId,
  type TranscriptIdentity,
} from "./writing/transcript-identity.ts";
import { TranscriptWriter } from "./writing/transcript-writer.ts";

/** Writes a session in Claude Code's format, for a project folder in `~/.claude/projects`. */
export const claudeCodeWriter: Writer = {
  name: "claude-code",
  title: "Claude Code",
  isFolder: true,
  async *write(session) {
    const id = getTranscriptId(session.record);
    const identity = buildTranscriptIdentity(session.record, id);
    yield* writeTranscript(session, identity, `${id}.jsonl`, id);
    for await (const agent of readDescendants(session)) {
      const agentId = getAgentId(agent.record);
      const file = `${id}/subagents/agent-${agentId}`;
      yield* writeTranscript(agent, buildAgentIdentity(agent.record, identity), `${file}.jsonl`, id);
      const facts = getAgentFacts(agent.record);
      if (facts !== undefined) yield { file: `${file}.meta.json`, text: JSON.stringify(facts) };
    }
  },
};

/** Writes the file of a conversation, then the files of its large tool results. */
async function* writeTranscript(
  session: ExportedSession,
  identity: TranscriptIdentity,
  file: string,
  id: string,
): AsyncGenerator<OutputPiece> {
  const transcript = await TranscriptWriter.of(session, identity);
  for await (const text of transcript.text()) yield { file, text };
  const files = new Set(transcript.files);
  if (files.size === 0) return;
  for await (const entry of session.entries("log")) {
    if (entry.kind !== "raw" || !files.has(entry.seq)) continue;
    const { name, text } = toObject(toObject(await session.raw(entry))?.toolResultFile) ?? {};
    const safe = /^[\w.-]+$/.exec(toText(name) ?? "")?.[0];
    if (safe !== undefined && typeof text === "string") yield { file: `${id}/tool-results/${safe}`, text };
  }
}

/** Yields all sub-agents at any depth; they share one folder. */
async function* readDescendants(session: ExportedSession): AsyncGenerator<ExportedSession> {
  for await (const child of session.children()) {
    yield child;
    yield* readDescendants(child);
  }
}
