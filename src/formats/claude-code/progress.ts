import { objectOf, textOf } from "../content/fields.ts";
import { fingerprint } from "../content/fingerprint.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { resultsOf } from "./lines.ts";

/** A sub-agent's message inside a progress line of its parent. */
export interface AgentMessage {
  readonly agentId: string;
  /** The message as a line of the sub-agent itself. */
  readonly line: LineRecord;
  /** Prompt of the sub-agent; each of its progress lines repeats it. */
  readonly prompt: string | undefined;
  /** The call that started the sub-agent. */
  readonly callId: string | undefined;
}

/** Extracts a sub-agent's message from a progress line; undefined for other lines. */
export function agentMessageOf({ record, line, sizeBytes }: LineRecord): AgentMessage | undefined {
  const data = record.type === "progress" ? objectOf(record.data) : undefined;
  const agentId = textOf(data?.agentId);
  const inner = objectOf(data?.message);
  if (data?.type !== "agent_progress" || agentId === undefined || !inner) return undefined;
  const prompt = textOf(data.prompt);
  return {
    agentId,
    line: { record: inner, line, sizeBytes: Math.max(0, sizeBytes - (prompt?.length ?? 0)) },
    prompt,
    callId: textOf(record.parentToolUseID),
  };
}

/** Tells whether a message consists of exactly this text. */
export function saysOnly(record: JsonObject, text: string): boolean {
  const content = objectOf(record.message)?.content;
  if (typeof content === "string") return content === text;
  const [block, ...more] = Array.isArray(content) ? content : [];
  return more.length === 0 && objectOf(block)?.text === text;
}

/** Partial output of a command in a progress line. */
export interface CommandOutput {
  readonly callId: string;
  readonly text: string;
}

/** Extracts the output from a progress line of a command; undefined for other lines. */
export function commandOutputOf(record: JsonObject): CommandOutput | undefined {
  const data = record.type === "progress" ? objectOf(record.data) : undefined;
  const callId = textOf(record.parentToolUseID);
  const text = data?.fullOutput ?? data?.output;
  if (data?.type !== "bash_progress" || callId === undefined || typeof text !== "string") return undefined;
  return { callId, text };
}

/** Tells whether no line holds the result of the command yet. */
export function isRunning({ callId }: CommandOutput, lines: readonly LineRecord[]): boolean {
  return !lines.some(({ record }) => resultsOf(record).some((block) => block.tool_use_id === callId));
}

/** Tells whether the lines hold the command's final result and it contains this output. */
export function isInResult({ callId, text }: CommandOutput, lines: readonly LineRecord[]): boolean {
  const wanted = text.trim();
  if (wanted === "") return true;
  return lines.some(({ record }) => {
    const results = resultsOf(record).filter((block) => block.tool_use_id === callId);
    if (results.length === 0) return false;
    const { stdout, stderr } = objectOf(record.toolUseResult) ?? {};
    return [stdout, stderr, ...results.map(({ content }) => content)].some(
      (found) => typeof found === "string" && found.includes(wanted),
    );
  });
}

/** Fingerprints a progress line, to recognize a repetition. */
export function gistOf(record: JsonObject): string {
  return fingerprint(JSON.stringify(record.data));
}
