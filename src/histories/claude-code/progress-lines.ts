import { computeFingerprint } from "../../model/base/digest.ts";
import { toObject, toText } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { getToolResults } from "./claude-code-lines.ts";

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
export function extractAgentMessage({ record, line, sizeBytes }: LineRecord): AgentMessage | undefined {
  const data = record.type === "progress" ? toObject(record.data) : undefined;
  const agentId = toText(data?.agentId);
  const inner = toObject(data?.message);
  if (data?.type !== "agent_progress" || agentId === undefined || !inner) return undefined;
  const prompt = toText(data.prompt);
  return {
    agentId,
    line: { record: inner, line, sizeBytes: Math.max(0, sizeBytes - (prompt?.length ?? 0)) },
    prompt,
    callId: toText(record.parentToolUseID),
  };
}

/** Tells whether a message consists of exactly this text. */
export function hasOnlyText(record: JsonObject, text: string): boolean {
  const content = toObject(record.message)?.content;
  if (typeof content === "string") return content === text;
  const [block, ...more] = Array.isArray(content) ? content : [];
  return more.length === 0 && toObject(block)?.text === text;
}

/** Partial output of a command in a progress line. */
interface CommandOutput {
  readonly callId: string;
  readonly text: string;
}

/** Extracts the output from a progress line of a command; undefined for other lines. */
export function extractCommandOutput(record: JsonObject): CommandOutput | undefined {
  const data = record.type === "progress" ? toObject(record.data) : undefined;
  const callId = toText(record.parentToolUseID);
  const text = data?.fullOutput ?? data?.output;
  if (data?.type !== "bash_progress" || callId === undefined || typeof text !== "string") return undefined;
  return { callId, text };
}

/** Tells whether no line holds the result of the command yet. */
export function isRunning({ callId }: CommandOutput, lines: readonly LineRecord[]): boolean {
  return !lines.some(({ record }) => getToolResults(record).some((block) => block.tool_use_id === callId));
}

/** Tells whether the lines hold the command's final result and it contains this output. */
export function isInResult({ callId, text }: CommandOutput, lines: readonly LineRecord[]): boolean {
  const wanted = text.trim();
  if (wanted === "") return true;
  return lines.some(({ record }) => {
    const results = getToolResults(record).filter((block) => block.tool_use_id === callId);
    if (results.length === 0) return false;
    const { stdout, stderr } = toObject(record.toolUseResult) ?? {};
    return [stdout, stderr, ...results.map(({ content }) => content)].some(
      (found) => typeof found === "string" && found.includes(wanted),
    );
  });
}

/** Fingerprints a progress line, to recognize a repetition. */
export function fingerprintProgress(record: JsonObject): string {
  return computeFingerprint(JSON.stringify(record.data));
}
