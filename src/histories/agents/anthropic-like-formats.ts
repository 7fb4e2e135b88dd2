import { basename, dirname, join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import {
  omitFields,
  parseJsonOrUndefined,
  toArray,
  toNumber,
  toObject,
  toText,
  toTime,
} from "../../wire/fields.ts";
import type { Format, FormatName } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildKeptRecord, buildMessageRecords, buildUsage, type ForeignPlace } from "./foreign-records.ts";
import { createLinesFormat } from "./lines-format.ts";

/** Builds the records of a message with Anthropic's blocks; results alone make a message of the role "tool". */
export function buildBlockRecords(
  format: FormatName,
  place: ForeignPlace,
  message: JsonObject,
  rest: { readonly [field: string]: Json } | undefined,
): readonly Item[] {
  const { parts, extras } = decodeAnthropicBlocks(message.content, format);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  const role = message.role === "assistant" || message.role === "system" ? message.role : "user";
  return buildMessageRecords(format, {
    ...place,
    role: isAnswer ? "tool" : role,
    parts,
    model: toText(message.model),
    rest: { ...rest, ...omitFields(message, ["role", "content", "model"]), ...(extras && { extras }) },
  });
}

/** Factory Droid: JSONL with a header, then messages with Anthropic's blocks. */
export const droidFormat: Format = createLinesFormat({
  name: "droid",
  title: "Factory Droid",
  processes: ["droid"],
  homes: ({ home }) => [join(home, ".factory", "sessions")],
  recognize([first], file, folder) {
    const isHeader = first?.type === "session_start" && toText(first.id) !== undefined;
    const isHere =
      /[\\/]\.factory[\\/]sessions([\\/]|$)/.test(folder.path) && toText(first?.type) !== undefined;
    if (!isHeader && !isHere) return undefined;
    const id = toText(first?.id) ?? file.name.replace(/\.jsonl$/, "");
    const title = toText(first?.sessionTitle) ?? toText(first?.title);
    return {
      id: isHeader ? id : file.name.replace(/\.jsonl$/, ""),
      title,
      cwd: toText(first?.cwd),
      parent: toText(first?.parent),
    };
  },
  sideFiles: ({ name }) => [name.replace(/\.jsonl$/, ".settings.json")],
  begin: () => ({}),
  *decode({ record, line }) {
    const id = toText(record.id) ?? `L${line}`;
    const at = toTime(record.timestamp);
    const message = toObject(record.message);
    if (record.type === "session_start") {
      yield { type: "session", meta: { droid: record as { [field: string]: Json } } };
    } else if (
      record.type === "message" &&
      message &&
      (message.role === "user" || message.role === "assistant")
    ) {
      yield* buildBlockRecords(
        "droid",
        { id, at },
        message,
        omitFields(record, ["type", "id", "timestamp", "message"]),
      );
    } else yield buildKeptRecord({ id: `L${line}`, at }, record as Json);
  },
});

/** Cursor's command line: transcripts without times, one folder for each project. */
export const cursorCliFormat: Format = createLinesFormat({
  name: "cursor-cli",
  title: "Cursor CLI",
  processes: ["cursor-agent"],
  homes: ({ home, env }) => [join(env.CURSOR_CONFIG_DIR || join(home, ".cursor"), "projects")],
  recognize(first, file, folder) {
    if (!/[\\/]agent-transcripts([\\/]|$)/.test(folder.path)) return undefined;
    if (!first.some(({ role, message, type }) => (toText(role) && toObject(message)) || toText(type)))
      return undefined;
    const stem = file.name.replace(/\.jsonl$/, "");
    // A sub-agent's transcript is in a folder below that of its parent.
    const isBelow = basename(folder.path) === "subagents";
    const parent = isBelow ? basename(dirname(folder.path)) : undefined;
    return { id: isBelow ? `${parent}/${stem}` : stem, parent };
  },
  begin: () => ({}),
  *decode({ record, line }) {
    const message = toObject(record.message);
    const id = `L${line}`;
    if (!message || (record.role !== "user" && record.role !== "assistant"))
      yield buildKeptRecord({ id }, record as Json);
    else
      yield* buildBlockRecords(
        "cursor-cli",
        { id },
        { role: record.role, ...message },
        omitFields(record, ["role", "message"]),
      );
  },
});

interface StepState {
  /** The newest step; a step that is written again is a newer version of it. */
  step: number;
  /** Calls without an output yet: an output does not name its call, but the outputs come in the order of the calls. */
  open: string[];
}

const USER_REQUEST = /^<USER_REQUEST>\n?([\s\S]*?)\n?<\/USER_REQUEST>\s*([\s\S]*)$/;

/** Antigravity: a transcript of steps; the full one has also the content that the program cut from the other. */
export const antigravityFormat: Format = createLinesFormat<StepState>({
  name: "antigravity",
  title: "Antigravity",
  processes: ["antigravity", "agy"],
  homes: ({ home }) =>
    ["antigravity", "antigravity-cli", "antigravity-ide"].map((name) => join(home, ".gemini", name, "brain")),
  recognize(first, file, folder) {
    const hasFull = folder.files.some(({ name }) => name === "transcript_full.jsonl");
    if (file.name !== (hasFull ? "transcript_full.jsonl" : "transcript.jsonl")) return undefined;
    if (!first.some(({ source, type }) => toText(source) ?? toText(type))) return undefined;
    const pieces = file.path.split(/[\\/]/);
    const at = pieces.lastIndexOf(".system_generated");
    const calls = first
      .flatMap((step) => toArray(step.tool_calls))
      .map((call) => toObject(toObject(call)?.args));
    const cwd = calls.map((args) => toText(unquote(args?.Cwd))).find((path) => path);
    return at > 0 ? { id: String(pieces[at - 1]), cwd } : undefined;
  },
  begin: () => ({ step: -1, open: [] }),
  *decode({ record, line }, state) {
    const at = toTime(record.created_at);
    const step = toNumber(record.step_index);
    const isFinal = record.status === undefined || record.status === "DONE" || record.status === "ERROR";
    if (!isFinal) return yield buildKeptRecord({ id: `L${line}`, at }, record as Json);
    const id = step === undefined || step < state.step ? `L${line}` : `S${step}`;
    state.step = Math.max(state.step, step ?? -1);
    const { source, type, content, thinking, tool_calls: calls, ...others } = record;
    const rest = {
      type: type as Json,
      ...omitFields(others, ["step_index", "status", "created_at", "error"]),
    };
    const place = { id, at, isMutable: true };
    const text = toText(content) ?? "";
    if (type === "USER_INPUT" || (type === undefined && source === "USER_EXPLICIT")) {
      const [, request = text, added = ""] = USER_REQUEST.exec(text) ?? [];
      yield* buildMessageRecords("antigravity", {
        ...place,
        role: "user",
        parts: request === "" ? [] : [{ type: "text", text: request }],
        rest: { ...rest, ...(added && { added }) },
      });
    } else if (type === "PLANNER_RESPONSE" || (type === undefined && source === "MODEL")) {
      const made = toArray(calls).map((call, index): Extract<PartInput, { type: "tool-call" }> => {
        const { name, args } = toObject(call) ?? {};
        const input = Object.entries(toObject(args) ?? {}).map(([key, value]) => [key, unquote(value)]);
        return {
          type: "tool-call",
          callId: `${id}C${index}`,
          name: String(name ?? ""),
          input: Object.fromEntries(input) as Json,
        };
      });
      const known = new Set(state.open);
      state.open.push(...made.map(({ callId }) => callId).filter((one) => !known.has(one)));
      yield* buildMessageRecords("antigravity", {
        ...place,
        role: "assistant",
        parts: [
          ...(toText(thinking) ? [{ type: "reasoning", text: String(thinking) } as const] : []),
          ...(text === "" ? [] : [{ type: "text", text } as const]),
          ...made,
        ],
        rest,
        usage: buildUsage({
          inputTokens: toNumber(record.input_tokens),
          cacheReadTokens: toNumber(record.cache_read_tokens),
          outputTokens: toNumber(record.output_tokens),
        }),
      });
    } else if (source === "MODEL" && state.open.length > 0) {
      const error = toText(record.error);
      const output = [text, error ?? ""]
        .filter((one) => one !== "")
        .map((one) => ({ type: "text", text: one }));
      yield* buildMessageRecords("antigravity", {
        ...place,
        role: "tool",
        parts: [
          {
            type: "tool-result",
            callId: state.open.shift() as string,
            ...((error !== undefined || type === "ERROR_MESSAGE") && { isError: true }),
            output: output as [],
          },
        ],
        rest,
      });
    } else yield buildKeptRecord(place, record as Json);
  },
});

/** The transcript encodes the texts among the arguments of a call a second time. */
function unquote(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith('"')) return value;
  const inner = parseJsonOrUndefined(value);
  return typeof inner === "string" ? inner : value;
}
