import { basename, dirname, join } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-decode.ts";
import { omitFields, toObject, toText, toTime } from "../../wire/fields.ts";
import type { Format, FormatName } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildKeptRecord, buildMessageRecords, type ForeignPlace } from "./foreign-records.ts";
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

/** Antigravity: a transcript of steps with their sources. */
export const antigravityFormat: Format = createLinesFormat({
  name: "antigravity",
  title: "Antigravity",
  processes: ["antigravity", "agy"],
  homes: ({ home }) =>
    ["antigravity", "antigravity-cli", "antigravity-ide"].map((name) => join(home, ".gemini", name, "brain")),
  recognize(first, file) {
    if (!/^transcript(_full)?\.jsonl$/.test(file.name)) return undefined;
    if (!first.some(({ source }) => toText(source))) return undefined;
    const pieces = file.path.split(/[\\/]/);
    const at = pieces.lastIndexOf(".system_generated");
    return at > 0 ? { id: `${pieces[at - 1]}${file.name === "transcript.jsonl" ? "" : "/full"}` } : undefined;
  },
  begin: () => ({}),
  *decode({ record, line }) {
    const at = toTime(record.created_at);
    const text = toText(record.content);
    const role =
      record.source === "MODEL" ? "assistant" : record.source === "USER_EXPLICIT" ? "user" : undefined;
    const id = record.step_index === undefined ? `L${line}` : `S${record.step_index}L${line}`;
    if (role === undefined || text === undefined) yield buildKeptRecord({ id, at }, record as Json);
    else
      yield* buildMessageRecords("antigravity", {
        id,
        at,
        role,
        parts: [{ type: "text", text }],
        rest: omitFields(record, ["source", "content", "created_at"]),
      });
  },
});
