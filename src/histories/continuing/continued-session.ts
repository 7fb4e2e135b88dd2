import { randomBytes, randomUUID } from "node:crypto";
import type { RawBody } from "../../kernel/faces/log.ts";
import type {
  Entry,
  Json,
  Kernel,
  Message,
  MessageBody,
  Part,
  SessionId,
  SessionRecord,
  ToolCallPart,
} from "../../kernel/index.ts";
import { formatEntryId } from "../../kernel/index.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { toObject, toText } from "../../wire/fields.ts";
import { createExportedSession } from "../export-session.ts";
import type { ExportedSession } from "../port/writer.ts";
import { type ContinuedAgent, convertToolCall } from "./tool-counterparts.ts";

/** A conversation as another agent gets it. */
interface ContinuedSession {
  readonly session: ExportedSession;
  readonly cwd: string | undefined;
  readonly messages: number;
  /** Parts of the model's reasoning, which only its own provider accepts. */
  readonly reasoning: number;
  /** Calls that the other agent has no tool for; they are told in words. */
  readonly toldCalls: number;
}

interface ContinuedSessionOptions {
  readonly agent: ContinuedAgent;
  readonly isWhole: boolean;
  readonly now: number;
  /** The folder to continue in if the conversation does not name its own. */
  readonly here?: string | undefined;
  /** The model that the other agent continues with, if its messages have to name one. */
  readonly model?: string | undefined;
}

/** Builds the conversation for another agent: its window, or all of its line. */
export async function continueSession(
  kernel: Kernel,
  id: SessionId,
  { agent, isWhole, now, model, here }: ContinuedSessionOptions,
): Promise<ContinuedSession> {
  const exported = await createExportedSession(kernel, id);
  const found = isWhole ? await readLine(exported) : await readWindow(kernel, id);
  const messages: Message[] = [];
  for (const message of found) {
    const parts: Part[] = [];
    for (const part of message.parts) parts.push(await exported.restore(part));
    messages.push({ ...message, parts });
  }
  const converted = convertMessages(messages, agent);
  const cwd = findWorkFolder(exported.record) ?? here;
  const { title } = exported.record;
  const own = agent === "opencode" ? `ses_${randomBytes(13).toString("hex")}` : randomUUID();
  const meta: { [key: string]: Json } = {
    continuedFrom: id,
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
  };
  const record = { id: own, createdAt: now, lineSeq: 0, meta, ...(title !== undefined && { title }) };
  const bodies: (MessageBody | RawBody)[] = converted.messages.map((message) => ({
    kind: "message",
    message,
  }));
  if (agent === "claude-code" && cwd !== undefined) bodies.splice(1, 0, describeSurroundings(cwd));
  const entries = bodies.map((body, index): Entry => {
    const seq = index + 1;
    return { id: formatEntryId(own, seq), session: own, seq, at: now + index, ...body };
  });
  const session: ExportedSession = {
    ...exported,
    record,
    line: [{ session: own, from: 1, to: entries.length }],
    async *entries() {
      yield* entries;
    },
    async *children() {},
  };
  return { ...converted, session, cwd, messages: converted.messages.length };
}

/** The folder that a conversation works in; Cline names it in its list of tasks. */
export function findWorkFolder(record: SessionRecord): string | undefined {
  const task = toObject(record.meta?.["cline-history"]);
  return findProjectFolder(record) ?? toText(task?.cwdOnTaskInitialization);
}

/** The line with which Claude Code describes the working folder; without it, it sends an empty message in its place. */
function describeSurroundings(workingDirectory: string): RawBody {
  const snapshot = {
    workingDirectory,
    isWorktree: false,
    isGitRepo: false,
    additionalWorkingDirectories: [],
    platform: process.platform,
    shell: "bash",
    osVersion: process.platform,
  };
  const value = { type: "attachment", uuid: randomUUID(), attachment: { type: "environment", snapshot } };
  return { kind: "raw", format: "claude-code", value };
}

async function readLine(exported: ExportedSession): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const entry of exported.entries("line"))
    if (entry.kind === "message") messages.push(entry.message);
  return messages;
}

/** The messages that the next call would send, without changing anything. */
async function readWindow(kernel: Kernel, id: SessionId): Promise<readonly Message[]> {
  await using session = await kernel.session(id);
  const { model = "unknown", ...frame } = await session.lastCall();
  return (await session.window({ ...frame, model }).fit({ dryRun: true })).messages;
}

/** Drops system prompts and reasoning, converts tool calls, and tells the rest in words. */
function convertMessages(
  messages: readonly Message[],
  agent: ContinuedAgent,
): { readonly messages: readonly Message[]; readonly reasoning: number; readonly toldCalls: number } {
  const answered = new Set(
    messages.flatMap(({ parts }) => parts).map((part) => part.type === "tool-result" && part.callId),
  );
  const calls = new Map<string, { readonly name: string; readonly isKept: boolean }>();
  const converted: Message[] = [];
  let reasoning = 0;
  let toldCalls = 0;
  const tell = (call: ToolCallPart): Part => {
    toldCalls++;
    calls.set(call.callId, { name: call.name, isKept: false });
    return { type: "text", text: `[Called the tool ${call.name} with ${JSON.stringify(call.input)}]` };
  };
  for (const { role, parts } of messages) {
    if (role === "system") continue;
    const own: Part[] = [];
    const told: Part[] = [];
    for (const part of parts) {
      if (part.type === "reasoning") reasoning++;
      else if (part.type === "tool-call") {
        const call = answered.has(part.callId) ? convertToolCall(part, agent) : undefined;
        if (call) calls.set(call.callId, { name: call.name, isKept: true });
        own.push(call ?? tell(part));
      } else if (part.type === "tool-result") {
        const call = calls.get(part.callId);
        if (call?.isKept) own.push({ ...part, name: call.name });
        else {
          const name = call?.name ?? part.name ?? "a tool";
          told.push({ type: "text", text: `[Output of ${name}]` }, ...part.output);
        }
      } else if (part.type === "raw") own.push({ type: "text", text: JSON.stringify(part.value) });
      else own.push(part);
    }
    if (own.length > 0) converted.push({ role, parts: own });
    if (told.length > 0) converted.push({ role: "user", parts: told });
  }
  return { messages: converted, reasoning, toldCalls };
}
