import type { Json, MessageInput } from "../../index.ts";
import { dropUndefined, omitFields, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { Item, RecordBody } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodePiContent } from "./pi-block-decode.ts";
import { decodeCompactionEdit, decodeContextEdit } from "./pi-edits.ts";
import { decodePiMessage } from "./pi-message.ts";
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
