import type { Json, MessageInput, PartInput } from "../../index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-decode.ts";
import { omitFields, toArray, toText } from "../../wire/fields.ts";
import {
  decodeChatCall,
  decodeChatContent,
  decodeChatOutput,
} from "../../wire/openai-chat/chat-content-decode.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { RecordItem } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { isCutFrom, joinContentText, type TrajectoryStep } from "./trajectory-steps.ts";

const NAME = "swe-agent";

/** A call that waits for its observation. */
export interface PendingAction {
  readonly callId: string;
  readonly name: string;
}

/** An assistant turn: its records and calls. */
interface AgentTurn {
  readonly records: readonly RecordItem[];
  readonly calls: readonly PendingAction[];
  /** Bytes of the entry that repeat other fields of it. */
  readonly copiedBytes: number;
}

/** Builds records of messages without calls: system prompt, task, demonstrations. */
export function buildPlainRecords(entry: JsonObject, id: string, agent: unknown): readonly RecordItem[] {
  const { parts, extras } = decodeChatContent(entry.content, NAME);
  const role = entry.role === "system" || entry.role === "assistant" ? entry.role : "user";
  const rest = omitFields(entry, ["role", "content", ...(entry.agent === agent ? ["agent"] : [])]);
  return buildRecords(id, { role, parts }, { ...rest, ...(extras && { extras: extras as Json }) });
}

/** Builds the records of an assistant turn from the history: its text, and its action or calls. */
export function buildTurn(entry: JsonObject, id: string, agent: unknown): AgentTurn {
  const thinking = decodeAnthropicBlocks(toArray(entry.thinking_blocks), NAME).parts;
  const { parts: said, extras } = decodeChatContent(entry.content === "" ? null : entry.content, NAME);
  const called = toArray(entry.tool_calls).flatMap((value) => decodeChatCall(value)?.part ?? []);
  const calls = called.length > 0 ? called : [toActionCall(entry.action, id)];
  const isThoughtCopy = isCutFrom(joinContentText(entry.content), String(entry.thought ?? ""));
  const known = [
    "role",
    "content",
    ...(thinking.length > 0 ? ["thinking_blocks"] : []),
    ...(called.length > 0 ? ["tool_calls"] : ["action"]),
    ...(isThoughtCopy ? ["thought"] : []),
    ...(entry.agent === agent ? ["agent"] : []),
  ];
  const left = { ...omitFields(entry, known), ...(extras && { extras: extras as Json }) };
  const message: MessageInput = { role: "assistant", parts: [...thinking, ...said, ...calls] };
  return {
    records: buildRecords(id, message, left),
    copiedBytes: isThoughtCopy && entry.thought ? Buffer.byteLength(JSON.stringify(entry.thought)) : 0,
    calls: calls.flatMap((part) =>
      part.type === "tool-call" ? [{ callId: part.callId, name: part.name }] : [],
    ),
  };
}

/** Builds an assistant turn that only the trajectory has. */
export function buildStepTurn(step: TrajectoryStep): AgentTurn {
  const { response, action } = step.fields;
  return buildTurn(
    { role: "assistant", content: toText(response) ?? "", action },
    `step-${step.index}`,
    undefined,
  );
}

/** Builds the observation's records; `left` holds further fields of the step. */
export function buildObservationRecords(
  content: unknown,
  id: string,
  calls: readonly PendingAction[],
  more: { readonly version: string; readonly left: Leftovers | undefined },
): readonly RecordItem[] {
  const parts: readonly PartInput[] = calls.map(({ callId, name }, index) => ({
    type: "tool-result",
    callId,
    name,
    // One observation answers all calls of a turn; nearly always there is only one.
    output: index === 0 ? decodeChatOutput(content, NAME) : [],
  }));
  const [message, ...others] = buildRecords(id, { role: "tool", parts }, more.left ?? {});
  return message ? [{ ...message, version: more.version }, ...others] : [];
}

/** Converts an action, a shell line with extra commands: its first word is the tool's name if it is a valid one. */
function toActionCall(action: unknown, id: string): PartInput & PendingAction {
  const command = typeof action === "string" ? action : "";
  const word = command.trim().split(/\s/)[0] ?? "";
  const name = /^[\w-]{1,64}$/.test(word) ? word : "bash";
  return { type: "tool-call", callId: `action-${id.replace(/\W/g, "")}`, name, input: { command } };
}

function buildRecords(id: string, message: MessageInput, left: Leftovers): readonly RecordItem[] {
  const { small, large } = splitLeftovers(Object.keys(left).length > 0 ? left : undefined);
  const body = {
    kind: "message",
    message: { ...message, ...(small && { meta: { [NAME]: small } }) },
  } as const;
  const record: RecordItem = { type: "record", id, body };
  return large
    ? [record, { type: "record", id: `${id}:extra`, body: { kind: "raw", value: large } }]
    : [record];
}
