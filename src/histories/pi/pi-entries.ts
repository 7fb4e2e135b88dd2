import type { Json, MessageInput, PartInput, Role, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { sniffMime } from "../../model/mime.ts";
import {
  type Content,
  decodeBlockContent,
  decodeBlockOutput,
  type KnownPart,
} from "../../wire/block-content.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { CopyFilter } from "../deduplication/copy-filter.ts";
import { COPY_RULES } from "../deduplication/copy-rules.ts";
import { KnownTexts } from "../deduplication/known-texts.ts";
import type { ForeignEdit, Item, RecordBody } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodePiUsage } from "./pi-usage-decode.ts";
import type { RecentEntries } from "./recent-entries.ts";

/** Context of an entry. */
interface PiEntryContext {
  /** Also the key of leftovers in meta. */
  readonly format: string;
  readonly id: string;
  readonly recent: RecentEntries;
  /** The parent, if it is not the previous entry. */
  readonly parent: string | null | undefined;
}

/** Decodes an entry. Its main record has the entry's id; extra records precede it, and usage follows. */
export function* decodePiEntry(entry: JsonObject, context: PiEntryContext): Generator<Item> {
  switch (entry.type) {
    case "message":
      return yield* decodeMessageEntry(entry, context);
    case "custom_message":
    case "branch_summary":
      return yield* decodeTextEntry(entry, context);
    case "compaction":
      return yield* decodeCompactionEntry(entry, context);
    case "context_edit":
      return yield* decodeContextEditEntry(entry, context);
    case "usage":
      return yield* decodeUsageEntry(entry, context);
    case "session_info": {
      const title = toText(toText(entry.name)?.trim());
      if (title !== undefined) yield { type: "session", title };
    }
  }
  yield buildRawItem(entry, context);
}

/** Returns the tool call that an entry answers. */
export function getAnsweredCallId(entry: JsonObject): string | undefined {
  const message = toObject(entry.message);
  return message?.role === "toolResult" ? toText(message.toolCallId) : undefined;
}

const BASE_FIELDS = ["type", "id", "parentId", "timestamp"];

function* decodeMessageEntry(entry: JsonObject, context: PiEntryContext): Generator<Item> {
  const { id, format } = context;
  const at = toTime(entry.timestamp);
  const message = toObject(entry.message);
  const decoded = message && decodePiMessage(message, format, at);
  if (!message || !decoded) return yield buildRawItem(entry, context);
  const { small, large } = splitLeftovers(omitFields(entry, [...BASE_FIELDS, "message"]));
  if (large || decoded.large) {
    const value = { type: "message", ...dropUndefined({ id: entry.id as string }), ...large };
    yield buildItem(entry, `${id}:extra`, {
      kind: "raw",
      value: { ...value, ...(decoded.large && { message: decoded.large }) } as Json,
    });
  }
  if (decoded.copiedBytes > 0) yield { type: "copy", bytes: decoded.copiedBytes };
  const { role, parts, model } = decoded;
  const meta = { ...buildMeta(entry, context), ...decoded.meta, ...(small && { entry: small }) };
  yield buildItem(entry, id, {
    kind: "message",
    message: { role, parts, ...dropUndefined({ model }), ...withMeta(format, meta) },
  });
  yield* decodeUsage(entry, message, context);
  if (message.role === "bashExecution" && message.excludeFromContext === true) {
    const edit = { type: "hide", spans: [{ from: id, through: id }] } as const;
    yield buildItem(entry, `${id}:excluded`, { kind: "overlay", edit, reason: "excluded from the context" });
  }
}

/** Decodes entries that are messages themselves: from extensions, and summaries of abandoned branches. */
function* decodeTextEntry(entry: JsonObject, context: PiEntryContext): Generator<Item> {
  const { id, format } = context;
  const { summary, content } = entry;
  const isSummary = entry.type === "branch_summary";
  // pi does not show empty summaries to the model.
  if (isSummary ? typeof summary !== "string" || summary === "" : content === undefined)
    return yield buildRawItem(entry, context);
  const spoken = decodePiContent(isSummary ? summary : content, format);
  const known = [...BASE_FIELDS, isSummary ? "summary" : "content", "usage"];
  const { small, large } = splitLeftovers(omitFields(entry, known));
  if (large) {
    const value = { type: entry.type, ...dropUndefined({ id: entry.id }), ...large };
    yield buildItem(entry, `${id}:extra`, { kind: "raw", value: value as Json });
  }
  const meta = {
    ...buildMeta(entry, context),
    type: entry.type as string,
    ...dropUndefined({
      plain: typeof content === "string" ? true : undefined,
      extras: spoken.extras,
      entry: small,
    }),
  };
  const message: MessageInput = { role: "user", parts: spoken.parts, ...withMeta(format, meta) };
  yield buildItem(entry, id, { kind: "message", message });
  yield* decodeUsage(entry, entry, context);
}

function* decodeCompactionEntry(entry: JsonObject, context: PiEntryContext): Generator<Item> {
  const edit = decodeCompactionEdit(entry, context.id, context.recent, context.format);
  if (!edit) return yield buildRawItem(entry, context);
  const tokensBefore = toNumber(entry.tokensBefore);
  const held = ["summary", "retainedTail", "usage", ...(tokensBefore === undefined ? [] : ["tokensBefore"])];
  yield buildExtraItem(entry, context.id, held);
  yield buildItem(entry, context.id, {
    kind: "overlay",
    edit,
    reason: "compaction",
    ...dropUndefined({ tokensBefore }),
  });
  yield* decodeUsage(entry, entry, context);
}

function* decodeContextEditEntry(entry: JsonObject, context: PiEntryContext): Generator<Item> {
  const edit = decodeContextEdit(entry, context.recent, context.format);
  if (!edit) return yield buildRawItem(entry, context);
  yield buildExtraItem(entry, context.id, edit.type === "replace" ? ["replacement"] : []);
  yield buildItem(entry, context.id, { kind: "overlay", edit, reason: "context edit" });
}

function* decodeUsageEntry(entry: JsonObject, context: PiEntryContext): Generator<Item> {
  const reported = decodePiUsage(entry.usage);
  if (!reported) return yield buildRawItem(entry, context);
  const model = toText(entry.model);
  const provider = toText(entry.provider);
  const known = [...BASE_FIELDS, "usage", ...Object.keys(dropUndefined({ model, provider }))];
  const meta = {
    ...buildMeta(entry, context),
    ...dropUndefined({ entry: omitFields(entry, known), rest: reported.rest }),
  };
  yield buildItem(entry, context.id, {
    kind: "usage",
    usage: reported.usage,
    ...dropUndefined({ model, provider }),
    ...withMeta(context.format, { ...meta, type: "usage" }),
  });
}

/** Emits the usage of a message or entry. */
function* decodeUsage(
  entry: JsonObject,
  holder: JsonObject,
  { id, format }: PiEntryContext,
): Generator<Item> {
  const reported = decodePiUsage(holder.usage);
  if (!reported) return;
  const { model, provider } = { model: toText(holder.model), provider: toText(holder.provider) };
  yield buildItem(entry, `${id}:usage`, {
    kind: "usage",
    usage: reported.usage,
    ...dropUndefined({ model, provider }),
    request: id,
    ...(reported.rest && withMeta(format, { rest: reported.rest })),
  });
}

/** Builds a raw record of the entry without the fields that its overlay holds. */
function buildExtraItem(entry: JsonObject, id: string, held: readonly string[]): Item {
  return buildItem(entry, `${id}:extra`, { kind: "raw", value: omitFields(entry, held) as Json });
}

function buildRawItem(entry: JsonObject, { id }: PiEntryContext): Item {
  return buildItem(entry, id, { kind: "raw", value: entry as Json });
}

function buildItem(entry: JsonObject, id: string, body: RecordBody): Item {
  const at = toTime(entry.timestamp) ?? toTime(toObject(entry.message)?.timestamp);
  return { type: "record", id, ...dropUndefined({ at }), body };
}

/**
 * Returns the meta that restores the entry: its id, its place in the tree, and its timestamp if ours is formatted
 * differently.
 */
function buildMeta(entry: JsonObject, { parent }: PiEntryContext): Leftovers {
  const at = toTime(entry.timestamp);
  const isPlain = at !== undefined && new Date(at).toISOString() === entry.timestamp;
  return dropUndefined({
    id: toText(entry.id),
    parentId: parent,
    timestamp: isPlain ? undefined : (entry.timestamp as Json),
  }) as Leftovers;
}

function withMeta(format: string, meta: Leftovers): { meta?: { readonly [key: string]: Json } } {
  return Object.keys(meta).length > 0 ? { meta: { [format]: meta } } : {};
}

/** Converts a compaction entry; undefined if it leaves nothing out. */
function decodeCompactionEdit(
  entry: JsonObject,
  id: string,
  recent: RecentEntries,
  format: string,
): ForeignEdit | undefined {
  const summary = toText(entry.summary);
  const through = findLastReplaced(entry, id, recent);
  if (summary === undefined || through === undefined) return undefined;
  const tail = toArray(entry.retainedTail).flatMap((message) => decodeRetained(message, format));
  const messages: MessageInput[] = [{ role: "user", text: summary }, ...tail];
  return { type: "summarize", spans: [{ through }], messages };
}

/** Returns the last entry that a compaction leaves out: the one before the first it keeps. */
function findLastReplaced(entry: JsonObject, id: string, recent: RecentEntries): string | undefined {
  const all = toText(entry.parentId) ?? recent.last;
  if (entry.retainedTail !== undefined) return all;
  const { firstKeptEntryId: kept, firstKeptEntryIndex: index } = entry;
  // Version 1 has no ids and counts lines; the header is 0.
  if (typeof index === "number") return index > 1 ? `#${index - 1}` : undefined;
  if (typeof kept !== "string" || kept === id) return all;
  const before = recent.findEntryBefore(kept);
  // pi keeps only entries that it finds on the path to the compaction.
  return before === undefined ? all : (before ?? undefined);
}

function decodeRetained(message: unknown, format: string): MessageInput[] {
  const fields = toObject(message);
  const decoded = fields && decodePiMessage(fields, format, undefined);
  if (!decoded) return [];
  const { role, parts, model, meta } = decoded;
  return [dropUndefined({ role, parts, model, meta: { [format]: meta } })];
}

/** Converts a context_edit entry; undefined if it has no target. */
function decodeContextEdit(
  entry: JsonObject,
  recent: RecentEntries,
  format: string,
): ForeignEdit | undefined {
  const target = toText(entry.targetId);
  if (target === undefined) return undefined;
  if (entry.replacement === null) return { type: "hide", spans: [{ from: target, through: target }] };
  const content = toObject(entry.replacement)?.content;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const callId = recent.findCallId(target);
  if (callId === undefined)
    return { type: "replace", target: { record: target }, parts: decodePiContent(content, format).parts };
  const output = decodePiOutput(content, format);
  const parts = typeof output === "string" ? [{ type: "text", text: output } as const] : output;
  return { type: "replace", target: { callId }, parts };
}

/** A converted pi message. */
interface PiMessage {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  readonly model?: string;
  /** Small fields that our message cannot represent; they go into its meta. */
  readonly meta: Leftovers;
  /** Fields that are too large for meta. */
  readonly large?: Leftovers;
  readonly copiedBytes: number;
  readonly callId?: string;
}

/** Converts a message; undefined if its role or shape is unknown. `at` is the time of its entry. */
function decodePiMessage(message: JsonObject, format: string, at: number | undefined): PiMessage | undefined {
  const shaped = decodeShape(message, format);
  if (!shaped) return undefined;
  const known = ["role", ...shaped.fields, ...(message.timestamp === at ? ["timestamp"] : [])];
  const rest = omitFields(message, known);
  const { value, bytes } = removeDetailCopies(rest, shaped.output);
  const { small, large } = splitLeftovers(value);
  return {
    role: shaped.role,
    parts: shaped.parts,
    meta: dropUndefined({
      role: shaped.isNamed ? undefined : (message.role as string),
      plain: typeof message.content === "string" ? true : undefined,
      extras: shaped.extras,
      message: small,
    }) as Leftovers,
    copiedBytes: bytes,
    ...dropUndefined({ model: shaped.model, large, callId: shaped.callId }),
  };
}

interface MessageShape {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  readonly extras?: Json;
  readonly model?: string;
  readonly callId?: string;
  /** Text of a tool's output, to find copies. */
  readonly output?: string;
  /** Fields that the other properties represent. */
  readonly fields: readonly string[];
  /** True if pi's role follows from ours. */
  readonly isNamed?: boolean;
}

function decodeShape(message: JsonObject, format: string): MessageShape | undefined {
  const content = () => decodePiContent(message.content, format);
  switch (message.role) {
    case "user":
    case "system":
      return { role: message.role, ...content(), fields: ["content"], isNamed: true };
    case "assistant": {
      const model = toText(message.model);
      const fields = ["content", "usage", ...(model === undefined ? [] : ["model"])];
      return { role: "assistant", ...content(), fields, isNamed: true, ...dropUndefined({ model }) };
    }
    case "toolResult":
      return typeof message.toolCallId === "string"
        ? decodeToolResult(message, message.toolCallId, format)
        : undefined;
    case "custom":
    case "hookMessage":
      return { role: "user", ...content(), fields: ["content"] };
    case "bashExecution":
      return decodeBashExecution(message);
    case "branchSummary":
    case "compactionSummary":
      if (typeof message.summary !== "string") return undefined;
      return { role: "user", parts: [{ type: "text", text: message.summary }], fields: ["summary"] };
    default:
      return undefined;
  }
}

function decodeToolResult(message: JsonObject, callId: string, format: string): MessageShape {
  const output = decodePiOutput(message.content, format);
  const name = toText(message.toolName);
  const isError = typeof message.isError === "boolean" ? message.isError : undefined;
  const fields = ["content", "toolCallId", "usage"];
  if (name !== undefined) fields.push("toolName");
  if (isError !== undefined) fields.push("isError");
  const texts =
    typeof output === "string" ? [output] : output.flatMap((part) => (part.type === "text" ? part.text : []));
  return {
    role: "tool",
    parts: [{ type: "tool-result", callId, ...dropUndefined({ name, isError }), output }],
    callId,
    output: texts.join("\n"),
    fields,
    isNamed: true,
  };
}

/** Converts a command that the user ran: the command, then its output. */
function decodeBashExecution(message: JsonObject): MessageShape | undefined {
  const { command, output } = message;
  if (typeof command !== "string" || typeof output !== "string") return undefined;
  const parts: PartInput[] = [{ type: "text", text: `Ran \`${command}\`` }];
  if (output !== "") parts.push({ type: "text", text: output });
  return { role: "user", parts, fields: ["command", "output"] };
}

function removeDetailCopies(
  rest: Leftovers | undefined,
  output: string | undefined,
): { readonly value: Leftovers | undefined; readonly bytes: number } {
  if (!rest || !output) return { value: rest, bytes: 0 };
  const evidence = new KnownTexts(COPY_RULES.pi, { searched: [output] });
  const { value, copied } = new CopyFilter(COPY_RULES.pi, evidence).strip(rest);
  return { value: toObject(value) as Leftovers | undefined, bytes: copied };
}

/** Converts pi's content, a string or blocks. Unknown blocks become raw parts of `format`. */
function decodePiContent(content: unknown, format: string): Content {
  return decodeBlockContent(content, format, decodeBlock);
}

/** Converts the output of a tool result. Blocks with further fields stay raw. */
function decodePiOutput(content: unknown, format: string): ToolResultInput["output"] {
  return decodeBlockOutput(content, format, decodeBlock);
}

function decodeBlock(block: JsonObject): KnownPart | undefined {
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") return undefined;
      return { part: { type: "text", text: block.text }, fields: ["type", "text"] };
    case "thinking":
      if (typeof block.thinking !== "string") return undefined;
      return {
        part: {
          type: "reasoning",
          text: block.thinking,
          ...dropUndefined({ opaque: block.thinkingSignature as Json }),
        },
        fields: ["type", "thinking", "thinkingSignature"],
      };
    case "toolCall":
      if (typeof block.id !== "string" || typeof block.name !== "string" || block.arguments === undefined)
        return undefined;
      return {
        part: { type: "tool-call", callId: block.id, name: block.name, input: block.arguments as Json },
        fields: ["type", "id", "name", "arguments"],
      };
    case "image":
      return decodeImage(block);
    default:
      return undefined;
  }
}

function decodeImage(block: JsonObject): KnownPart | undefined {
  const part = buildDataPart(block.data, block.mimeType);
  if (!part) return undefined;
  const shown = sniffMime(Buffer.from(String(block.data).slice(0, 64), "base64"));
  // The log uses the type that the bytes show; a different label is kept as an extra field.
  const isLabelled = shown === undefined || shown === block.mimeType;
  return { part, fields: isLabelled ? ["type", "data", "mimeType"] : ["type", "data"] };
}
