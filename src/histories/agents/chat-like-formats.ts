import { basename, dirname, join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import { decodeChatCall } from "../../wire/openai-chat/chat-content-decode.ts";
import type { Format, FormatName } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import {
  buildKeptRecord,
  buildMessageRecords,
  type ForeignPlace,
  toMilliseconds,
} from "./foreign-records.ts";
import { createLinesFormat, readHeadObject } from "./lines-format.ts";

const KNOWN = ["role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content"];

/** Decodes text, thinking and images of messages in the manner of OpenAI's chat API and its relatives. */
export function decodeContent(content: unknown, format: FormatName): readonly PartInput[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return toArray(content).map((value): PartInput => {
    const block = toObject(value);
    const think =
      block?.type === "think" || block?.type === "thinking"
        ? (block.think ?? block.thinking ?? block.text)
        : undefined;
    if (typeof think === "string") {
      const opaque = block && omitFields(block, ["type", "think", "thinking", "text"]);
      return { type: "reasoning", text: think, ...(opaque && { opaque }) };
    }
    if (typeof block?.text === "string" && (block.type === "text" || block.type === undefined))
      return { type: "text", text: block.text };
    const url = toObject(block?.image_url)?.url ?? toObject(block?.imageUrl)?.url;
    return parseDataUrl(url) ?? { type: "raw", format, value: value as Json };
  });
}

/** Builds the records of a message in the manner of OpenAI's chat API. */
export function buildChatLikeRecords(
  format: FormatName,
  place: ForeignPlace,
  message: JsonObject,
): readonly Item[] {
  const { role } = message;
  const rest = omitFields(message, KNOWN);
  if (role === "tool") {
    const output = decodeContent(message.content, format).filter(({ type }) => type !== "reasoning");
    return buildMessageRecords(format, {
      ...place,
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId: toText(message.tool_call_id) ?? place.id,
          ...(toText(message.name) && { name: String(message.name) }),
          output: output as Extract<Exclude<PartInput, string>, { type: "text" | "raw" | "data" }>[],
        },
      ],
      rest,
    });
  }
  const reasoning = toText(message.reasoning_content);
  const calls = toArray(message.tool_calls).map(
    (call): PartInput => decodeChatCall(call)?.part ?? { type: "raw", format, value: call as Json },
  );
  return buildMessageRecords(format, {
    ...place,
    role: role === "assistant" || role === "system" ? role : "user",
    parts: [
      ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
      ...decodeContent(message.content, format),
      ...calls,
    ],
    rest: { ...rest, ...(toText(message.name) && { name: String(message.name) }) },
  });
}

/** Mistral Vibe: the messages of each session, with its facts in another file. */
export const vibeFormat: Format = createLinesFormat({
  name: "vibe",
  title: "Mistral Vibe",
  processes: ["vibe"],
  homes: ({ home, env }) => [join(env.VIBE_HOME || join(home, ".vibe"), "logs", "session")],
  async recognize(first, file, folder) {
    if (file.name !== "messages.jsonl" || !first.some(({ role }) => toText(role))) return undefined;
    const facts = await readHeadObject(folder, "meta.json");
    if (!facts) return undefined;
    const environment = toObject(facts.environment);
    return {
      id: toText(facts.session_id) ?? folder.name,
      title: toText(facts.title),
      cwd: toText(environment?.working_directory),
      parent: toText(facts.parent_session_id),
    };
  },
  sideFiles: () => ["meta.json"],
  begin: () => ({}),
  *decode({ record, line }) {
    const id = toText(record.message_id) ?? `L${line}`;
    if (toText(record.role) === undefined) yield buildKeptRecord({ id: `L${line}` }, record as Json);
    else yield* buildChatLikeRecords("vibe", { id, at: toTime(record.timestamp) }, record);
  },
});

/** kimi-cli: the context of each session; records whose role begins with "_" steer the program. */
export const kimiCliFormat: Format = createLinesFormat({
  name: "kimi",
  title: "Kimi CLI",
  processes: ["kimi"],
  homes: ({ home, env }) => [join(env.KIMI_SHARE_DIR || join(home, ".kimi"), "sessions")],
  recognize(first, file, folder) {
    if (!/^context(_\d+)?\.jsonl$/.test(file.name) || !first.some(({ role }) => toText(role)))
      return undefined;
    // An older context is the one before the program went back or compacted.
    const older = /_(\d+)/.exec(file.name)?.[1];
    const below =
      basename(dirname(folder.path)) === "subagents" ? basename(dirname(dirname(folder.path))) : undefined;
    const own = below === undefined ? folder.name : `${below}/${folder.name}`;
    const id = older === undefined ? own : `${own}/context-${older}`;
    return { id, parent: older === undefined ? below : own };
  },
  sideFiles: () => ["state.json"],
  begin: () => ({}),
  *decode({ record, line }) {
    const role = toText(record.role);
    const id = `L${line}`;
    if (role === undefined || (role.startsWith("_") && role !== "_system_prompt"))
      yield buildKeptRecord({ id }, record as Json);
    else
      yield* buildChatLikeRecords(
        "kimi",
        { id },
        role === "_system_prompt" ? { ...record, role: "system" } : record,
      );
  },
});

interface StepState {
  /** The step whose parts arrive. */
  step?: { id: string; at: number | null; parts: PartInput[]; rest: Json[] } | undefined;
}

/** Kimi Code: the wire protocol of each agent; a step's parts make up one message. */
export const kimiCodeFormat: Format = createLinesFormat<StepState>({
  name: "kimi-code",
  title: "Kimi Code",
  processes: ["kimi"],
  homes: ({ home, env }) => [join(env.KIMI_CODE_HOME || join(home, ".kimi-code"), "sessions")],
  recognize(first, file, folder) {
    if (file.name !== "wire.jsonl" || basename(dirname(folder.path)) !== "agents") return undefined;
    if (!first.some(({ type }) => toText(type))) return undefined;
    const session = basename(dirname(dirname(folder.path)));
    return folder.name === "main" ? { id: session } : { id: `${session}/${folder.name}`, parent: session };
  },
  begin: () => ({}),
  *decode({ record, line }, state) {
    const at = toMilliseconds(record.time);
    const event = toObject(record.event);
    const part = toObject(event?.part);
    if (record.type === "context.append_message" && toObject(record.message)) {
      yield* finishStep(state);
      const { toolCalls, toolCallId, ...message } = toObject(record.message) ?? {};
      const calls = toArray(toolCalls);
      const own = {
        ...message,
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(toText(toolCallId) && { tool_call_id: toolCallId }),
      };
      yield* buildChatLikeRecords("kimi-code", { id: `L${line}`, at }, own);
    } else if (event?.type === "content.part" && part) {
      if (state.step && state.step.id !== event.stepUuid) yield* finishStep(state);
      state.step ??= { id: String(event.stepUuid ?? `L${line}`), at: at ?? null, parts: [], rest: [] };
      for (const decoded of decodeContent([part], "kimi-code")) addPart(state.step.parts, decoded);
    } else if (event?.type === "tool.call") {
      state.step ??= { id: String(event.stepUuid ?? `L${line}`), at: at ?? null, parts: [], rest: [] };
      const callId = toText(event.toolCallId) ?? String(event.uuid ?? `L${line}`);
      state.step.parts.push({
        type: "tool-call",
        callId,
        name: String(event.name ?? ""),
        input: (event.args ?? event.input ?? {}) as Json,
      });
      state.step.rest.push(record as Json);
    } else if (event?.type === "tool.result") {
      yield* finishStep(state);
      const result = toObject(event.result);
      const output = decodeContent(result?.output ?? event.output ?? event.content, "kimi-code");
      const callId = toText(event.toolCallId) ?? toText(event.parentUuid) ?? `L${line}`;
      yield* buildMessageRecords("kimi-code", {
        id: `L${line}`,
        at,
        role: "tool",
        parts: [
          {
            type: "tool-result",
            callId,
            ...(result?.isError === true && { isError: true }),
            output: output as [],
          },
        ],
        rest: { event: omitFields(event, ["output", "content"]) as Json },
      });
    } else {
      if (event?.type === "step.end") yield* finishStep(state);
      yield buildKeptRecord({ id: `L${line}`, at }, record as Json);
    }
  },
  *end(state) {
    yield* finishStep({ ...state });
  },
});

/** Joins a part to the one before it if both are text, as a stream of pieces has them. */
export function addPart(parts: PartInput[], part: PartInput): void {
  const last = parts.at(-1);
  if ((part.type === "text" || part.type === "reasoning") && last?.type === part.type)
    parts[parts.length - 1] = { ...last, text: last.text + part.text };
  else parts.push(part);
}

function* finishStep(state: StepState): Generator<Item> {
  const { step } = state;
  state.step = undefined;
  if (!step) return;
  yield* buildMessageRecords("kimi-code", {
    id: `step:${step.id}`,
    at: step.at ?? undefined,
    role: "assistant",
    parts: step.parts,
    rest: step.rest.length > 0 ? { events: step.rest } : undefined,
    isMutable: true,
  });
}
