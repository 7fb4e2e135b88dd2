import { basename, dirname } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import { RESPONSES_ITEMS } from "../../wire/openai-responses/openai-responses-content.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { decodeLines, type LineDecoder } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { readWholeFile } from "./read-whole-file.ts";
import { RequestLog } from "./request-log.ts";
import type { WireDialect } from "./wire-dialect.ts";
import { DistinctIds, toRecordItem } from "./wire-records.ts";

const MAX_SAMPLE = 50;
const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

const ANTHROPIC_BLOCKS = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "server_tool_use",
  "web_search_tool_result",
  "document",
]);
const CHAT_PARTS = new Set(["image_url", "input_audio", "video_url", "refusal"]);
const RESPONSES_PARTS = new Set(["input_text", "output_text", "input_image", "input_file", "summary_text"]);
const AI_SDK_PARTS = new Set(["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"]);

const MAX_LINES = 20;

/** Creates the format for files with requests and responses in a dialect. */
export function createWireFormat(dialect: WireDialect): Format {
  return {
    name: dialect.name,
    title: dialect.title,
    processes: [],
    homes: () => [],
    async detect(folder) {
      const sources: ImportSource[] = [];
      for (const file of folder.files) {
        if (!isJsonName(file.name)) continue;
        const head = parseFileHead(await folder.head(file), file);
        if (head && recognizeWire(head) === dialect.name)
          sources.push(buildSource(dialect, folder, file, head));
      }
      return sources;
    },
    async *read(source, input) {
      const name = source.path.replace(/\.(gz|zst)$/i, "");
      if (parseFileHead(await readFirstText(source.path, input), { name })?.layout === "lines")
        yield* decodeLines(input, source.path, (state) => createWireLineDecoder(dialect, state));
      else yield* readWholeFile(dialect, source, input);
    },
  };
}

const HEAD_BYTES = 64 * 1024;

async function readFirstText(path: string, input: Input): Promise<string> {
  for await (const chunk of input.bytes(path)) {
    return chunk
      .subarray(0, HEAD_BYTES)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }
  return "";
}

function buildSource(dialect: WireDialect, folder: Folder, file: FileFacts, head: FileHead): ImportSource {
  const root = head.layout === "whole" ? (toObject(head.values[0]) ?? {}) : {};
  const own = findConversationId(root);
  const isUnnamed = own === undefined || undefined;
  const id = own ?? buildSourceName(file, folder.path);
  return buildFileSource(dialect.name, file, { id, isUnnamed, title: toText(root.title) });
}

const ID_FIELDS = [
  "conversation_id",
  "conversationId",
  "session_id",
  "sessionId",
  "chat_id",
  "chatId",
  "thread_id",
  "id",
];

function findConversationId(root: Readonly<Record<string, unknown>>): string | undefined {
  const own = toText(root.conversation) ?? toText(toObject(root.conversation)?.id);
  const named = ID_FIELDS.map((field) => toText(root[field])).find((id) => id !== undefined);
  const id = own ?? named;
  return id !== undefined && id.length <= 200 ? id : undefined;
}

/** File names that say nothing about a conversation. */
const GENERIC_NAMES =
  /^(messages?|requests?|responses?|conversation|chat|history|input|output|body|transcript|session|prompt|completion|data|index|log)$/i;

function buildSourceName(file: FileFacts, folderPath: string): string {
  const name = file.name.replace(/\.[^.]+$/, "");
  return GENERIC_NAMES.test(name) ? `${basename(folderPath) || basename(dirname(folderPath))}/${name}` : name;
}

/** Creates a decoder for a JSONL file whose lines are messages, or requests, responses, or both. */
function createWireLineDecoder(dialect: WireDialect, state: Json | undefined): LineDecoder {
  const messages = dialect.makeDecoder();
  const requests = new RequestLog(dialect, toObject(state)?.requests as Json | undefined);
  const ids = new DistinctIds();
  return {
    *decode(line) {
      if (!dialect.isMessage(line.record)) return yield* requests.readRequest(line);
      const place = `L${line.line}`;
      for (const piece of messages.decode(line.record, place))
        yield toRecordItem(ids.makeDistinct(piece, place));
    },
    get isSettled() {
      return messages.isSettled;
    },
    state: () => ({ requests: requests.state() }),
    *end() {
      for (const piece of messages.end()) yield toRecordItem(piece);
    },
  };
}

type DialectName = "anthropic" | "openai-chat" | "openai-responses" | "ai-sdk";

/**
 * Evidence of a message: its format if it is unambiguous; "plain" if several fit; "blocks" for an assistant message
 * with only text, but in blocks; undefined if it is not a message.
 */
type FormatSign = DialectName | "plain" | "blocks" | undefined;

/** Recognizes the wire format from the beginning of a file; undefined if it is not a conversation. */
function recognizeWire({ layout, values, isCut }: FileHead): DialectName | undefined {
  if (layout === "whole") return recognizeBody(values[0], isCut);
  return decideFormat(
    dropCutValue(values, isCut).map((line) => classifyMessage(line) ?? recognizeBody(line, false)),
  );
}

/** Drops a truncated last value unless it is the only one. */
function dropCutValue(values: readonly unknown[], isCut: boolean): readonly unknown[] {
  return isCut && values.length > 1 ? values.slice(0, -1) : values;
}

/** Recognizes an array of messages, a request, a response, or both. */
function recognizeBody(value: unknown, isCut: boolean): DialectName | undefined {
  if (Array.isArray(value)) return recognizeMessages(value, isCut);
  const body = toObject(value);
  if (!body) return undefined;
  const nested = toObject(body.request) ?? toObject(body.request_body) ?? toObject(body.body);
  if (nested) return recognizeBody(nested, isCut);
  const response = toObject(body.response) ?? toObject(body.response_body);
  if (response && !Array.isArray(body.messages)) return recognizeBody(response, isCut);

  if (isNonEmpty(body.input)) return recognizeMessages(body.input, isCut);
  if (typeof body.input === "string" && typeof body.model === "string" && !("messages" in body))
    return "openai-responses";
  if (isNonEmpty(body.messages)) return recognizeRequest(body, isCut);
  if (isNonEmpty(body.output) && body.object === "response") return "openai-responses";
  if (isNonEmpty(body.choices) && toObject(toObject(body.choices[0])?.message)) return "openai-chat";
  const sign = decideFormat([classifyMessage(body)]);
  if (sign) return sign;
  return typeof body.model === "string" ? recognizeTools(body) : undefined;
}

function recognizeRequest(body: JsonObject, isCut: boolean): DialectName | undefined {
  const signs = sampleMessages(toArray(body.messages), isCut);
  const sign = decideFormat(signs);
  const isAnthropic =
    body.system !== undefined ||
    body.anthropic_version !== undefined ||
    (typeof body.model === "string" && /^claude\b/.test(body.model));
  return isAnthropic && sign === "openai-chat" && signs.every(isUnsure) ? "anthropic" : sign;
}

function recognizeMessages(messages: readonly unknown[], isCut: boolean): DialectName | undefined {
  return decideFormat(sampleMessages(messages, isCut));
}

function sampleMessages(messages: readonly unknown[], isCut: boolean): readonly FormatSign[] {
  return dropCutValue(messages, isCut).slice(0, MAX_SAMPLE).map(classifyMessage);
}

function isUnsure(sign: FormatSign): boolean {
  return sign === "plain" || sign === "blocks";
}

/** Returns the format if all values are messages and none contradicts it. */
function decideFormat(signs: readonly FormatSign[]): DialectName | undefined {
  if (signs.length === 0 || signs.includes(undefined)) return undefined;
  const sure = signs.filter((sign): sign is DialectName => !isUnsure(sign));
  // Lists of Responses items also contain messages that look like those of other formats.
  if (sure.includes("openai-responses")) return "openai-responses";
  const first = sure[0] ?? (signs.includes("blocks") ? "anthropic" : "openai-chat");
  return sure.every((sign) => sign === first) ? first : undefined;
}

function classifyMessage(value: unknown): FormatSign {
  const message = toObject(value);
  if (!message) return undefined;
  if (typeof message.type === "string" && RESPONSES_ITEMS.has(message.type)) return "openai-responses";
  if (typeof message.role !== "string" || !ROLES.has(message.role)) return undefined;
  if (Array.isArray(message.parts) && message.parts.every((part) => typeof toObject(part)?.type === "string"))
    return "ai-sdk";
  if (message.type === "message" && "stop_reason" in message) return "anthropic";
  if (isNonEmpty(message.tool_calls) || typeof message.tool_call_id === "string") return "openai-chat";
  if (message.role === "function" || typeof message.reasoning_content === "string") return "openai-chat";
  const { content } = message;
  if (typeof content === "string" || content === null)
    return message.type === "message" ? "openai-responses" : "plain";
  if (!Array.isArray(content)) return undefined;
  const signs = content.map(classifyPart);
  if (signs.includes(undefined)) return undefined;
  const speaks = message.role === "assistant" && signs.length > 0 ? "blocks" : "plain";
  return signs.find((sign) => sign !== "plain") ?? speaks;
}

function classifyPart(value: unknown): FormatSign {
  const part = toObject(value);
  if (!part || typeof part.type !== "string") return undefined;
  const { type } = part;
  if (AI_SDK_PARTS.has(type) && typeof (part.toolCallId ?? part.approvalId) === "string") return "ai-sdk";
  if (type === "reasoning" && typeof part.text === "string") return "ai-sdk";
  if (typeof part.mediaType === "string" || (type === "image" && "image" in part)) return "ai-sdk";
  if (ANTHROPIC_BLOCKS.has(type)) return "anthropic";
  if (type === "image" && toObject(part.source)) return "anthropic";
  if (CHAT_PARTS.has(type) || (type === "file" && toObject(part.file))) return "openai-chat";
  if (RESPONSES_PARTS.has(type)) return "openai-responses";
  return type === "text" && typeof part.text === "string" ? "plain" : undefined;
}

/** Recognizes a request by its tool definitions, whose shape differs by format, if its messages are out of sight. */
function recognizeTools(body: JsonObject): DialectName | undefined {
  const tool = toObject(toArray(body.tools)[0]);
  if (!tool) return undefined;
  if (toObject(tool.input_schema)) return "anthropic";
  if (tool.type !== "function") return undefined;
  return toObject(tool.function) ? "openai-chat" : "openai-responses";
}

function isNonEmpty(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** Layout of a file: one JSON value, or one per line. */
type FileLayout = "whole" | "lines";

/** The beginning of a file. */
interface FileHead {
  readonly layout: FileLayout;
  /** The root, or the values of the first lines. */
  readonly values: readonly unknown[];
  /** True if the last value, or the last one inside it, may be truncated. */
  readonly isCut: boolean;
}

/** Tells by its name whether a file may hold JSON. */
function isJsonName(name: string): boolean {
  return /\.(json|jsonl|ndjson)$/i.test(name);
}

/** Parses the layout and first values of a file; undefined if it is not JSON. */
function parseFileHead(text: string, { name }: Pick<FileFacts, "name">): FileHead | undefined {
  const begin = text.trimStart()[0];
  if (begin !== "[" && begin !== "{") return undefined;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const isNamedLines = /\.(jsonl|ndjson)$/i.test(name);
  const isLines = isNamedLines || (lines.length > 1 && isJson(lines[0]) && /^\s*\{/.test(lines[1] ?? ""));
  const texts = isLines ? lines.slice(0, MAX_LINES) : [text];
  const values = texts.map(parseCutJson);
  if (values[0] === undefined) return undefined;
  return { layout: isLines ? "lines" : "whole", values, isCut: !isJson(texts.at(-1)) };
}

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}
