import type { Json, MessageInput } from "../../index.ts";
import { definedFields, fieldsBesides, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { Leftovers } from "../content/leftovers.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import type { Item, RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { contentOfPi } from "./blocks.ts";
import { compactionEdit, contextEdit } from "./edits.ts";
import { messageOfPi } from "./messages.ts";
import type { RecentEntries } from "./recent-entries.ts";
import { usageOfPi } from "./usage.ts";

/** Context of an entry. */
export interface EntryContext {
  /** Also the key of leftovers in meta. */
  readonly format: string;
  readonly id: string;
  readonly recent: RecentEntries;
  /** The parent, if it is not the previous entry. */
  readonly parent: string | null | undefined;
}

/** Decodes an entry. Its main record has the entry's id; extra records precede it, and usage follows. */
export function* itemsOfEntry(entry: JsonObject, context: EntryContext): Generator<Item> {
  switch (entry.type) {
    case "message":
      return yield* messageItems(entry, context);
    case "custom_message":
    case "branch_summary":
      return yield* spokenItems(entry, context);
    case "compaction":
      return yield* compactionItems(entry, context);
    case "context_edit":
      return yield* contextEditItems(entry, context);
    case "usage":
      return yield* usageEntryItems(entry, context);
    case "session_info": {
      const title = textOf(textOf(entry.name)?.trim());
      if (title !== undefined) yield { type: "session", title };
    }
  }
  yield rawItem(entry, context);
}

/** Returns the tool call that an entry answers. */
export function callIdOf(entry: JsonObject): string | undefined {
  const message = objectOf(entry.message);
  return message?.role === "toolResult" ? textOf(message.toolCallId) : undefined;
}

const BASE_FIELDS = ["type", "id", "parentId", "timestamp"];

function* messageItems(entry: JsonObject, context: EntryContext): Generator<Item> {
  const { id, format } = context;
  const at = timeOf(entry.timestamp);
  const message = objectOf(entry.message);
  const decoded = message && messageOfPi(message, format, at);
  if (!message || !decoded) return yield rawItem(entry, context);
  const { small, large } = splitLeftovers(fieldsBesides(entry, [...BASE_FIELDS, "message"]));
  if (large || decoded.large) {
    const value = { type: "message", ...definedFields({ id: entry.id as string }), ...large };
    yield item(entry, `${id}:extra`, {
      kind: "raw",
      value: { ...value, ...(decoded.large && { message: decoded.large }) } as Json,
    });
  }
  if (decoded.copiedBytes > 0) yield { type: "copy", bytes: decoded.copiedBytes };
  const { role, parts, model } = decoded;
  const meta = { ...metaOf(entry, context), ...decoded.meta, ...(small && { entry: small }) };
  yield item(entry, id, {
    kind: "message",
    message: { role, parts, ...definedFields({ model }), ...withMeta(format, meta) },
  });
  yield* usageItems(entry, message, context);
  if (message.role === "bashExecution" && message.excludeFromContext === true) {
    const edit = { type: "hide", spans: [{ from: id, through: id }] } as const;
    yield item(entry, `${id}:excluded`, { kind: "overlay", edit, reason: "excluded from the context" });
  }
}

/** Decodes entries that are messages themselves: from extensions, and summaries of abandoned branches. */
function* spokenItems(entry: JsonObject, context: EntryContext): Generator<Item> {
  const { id, format } = context;
  const { summary, content } = entry;
  const isSummary = entry.type === "branch_summary";
  // pi does not show empty summaries to the model.
  if (isSummary ? typeof summary !== "string" || summary === "" : content === undefined)
    return yield rawItem(entry, context);
  const spoken = contentOfPi(isSummary ? summary : content, format);
  const known = [...BASE_FIELDS, isSummary ? "summary" : "content", "usage"];
  const { small, large } = splitLeftovers(fieldsBesides(entry, known));
  if (large) {
    const value = { type: entry.type, ...definedFields({ id: entry.id }), ...large };
    yield item(entry, `${id}:extra`, { kind: "raw", value: value as Json });
  }
  const meta = {
    ...metaOf(entry, context),
    type: entry.type as string,
    ...definedFields({
      plain: typeof content === "string" ? true : undefined,
      extras: spoken.extras,
      entry: small,
    }),
  };
  const message: MessageInput = { role: "user", parts: spoken.parts, ...withMeta(format, meta) };
  yield item(entry, id, { kind: "message", message });
  yield* usageItems(entry, entry, context);
}

function* compactionItems(entry: JsonObject, context: EntryContext): Generator<Item> {
  const edit = compactionEdit(entry, context.id, context.recent, context.format);
  if (!edit) return yield rawItem(entry, context);
  const tokensBefore = numberOf(entry.tokensBefore);
  const held = ["summary", "retainedTail", "usage", ...(tokensBefore === undefined ? [] : ["tokensBefore"])];
  yield extraItem(entry, context.id, held);
  yield item(entry, context.id, {
    kind: "overlay",
    edit,
    reason: "compaction",
    ...definedFields({ tokensBefore }),
  });
  yield* usageItems(entry, entry, context);
}

function* contextEditItems(entry: JsonObject, context: EntryContext): Generator<Item> {
  const edit = contextEdit(entry, context.recent, context.format);
  if (!edit) return yield rawItem(entry, context);
  yield extraItem(entry, context.id, edit.type === "replace" ? ["replacement"] : []);
  yield item(entry, context.id, { kind: "overlay", edit, reason: "context edit" });
}

function* usageEntryItems(entry: JsonObject, context: EntryContext): Generator<Item> {
  const reported = usageOfPi(entry.usage);
  if (!reported) return yield rawItem(entry, context);
  const model = textOf(entry.model);
  const provider = textOf(entry.provider);
  const known = [...BASE_FIELDS, "usage", ...Object.keys(definedFields({ model, provider }))];
  const meta = {
    ...metaOf(entry, context),
    ...definedFields({ entry: fieldsBesides(entry, known), rest: reported.rest }),
  };
  yield item(entry, context.id, {
    kind: "usage",
    usage: reported.usage,
    ...definedFields({ model, provider }),
    ...withMeta(context.format, { ...meta, type: "usage" }),
  });
}

/** Emits the usage of a message or entry. */
function* usageItems(entry: JsonObject, holder: JsonObject, { id, format }: EntryContext): Generator<Item> {
  const reported = usageOfPi(holder.usage);
  if (!reported) return;
  const { model, provider } = { model: textOf(holder.model), provider: textOf(holder.provider) };
  yield item(entry, `${id}:usage`, {
    kind: "usage",
    usage: reported.usage,
    ...definedFields({ model, provider }),
    request: id,
    ...(reported.rest && withMeta(format, { rest: reported.rest })),
  });
}

/** Builds a raw record of the entry without the fields that its overlay holds. */
function extraItem(entry: JsonObject, id: string, held: readonly string[]): Item {
  return item(entry, `${id}:extra`, { kind: "raw", value: fieldsBesides(entry, held) as Json });
}

function rawItem(entry: JsonObject, { id }: EntryContext): Item {
  return item(entry, id, { kind: "raw", value: entry as Json });
}

function item(entry: JsonObject, id: string, body: RecordBody): Item {
  const at = timeOf(entry.timestamp) ?? timeOf(objectOf(entry.message)?.timestamp);
  return { type: "record", id, ...definedFields({ at }), body };
}

/**
 * Returns the meta that restores the entry: its id, its place in the tree, and its timestamp if ours is formatted
 * differently.
 */
function metaOf(entry: JsonObject, { parent }: EntryContext): Leftovers {
  const at = timeOf(entry.timestamp);
  const isPlain = at !== undefined && new Date(at).toISOString() === entry.timestamp;
  return definedFields({
    id: textOf(entry.id),
    parentId: parent,
    timestamp: isPlain ? undefined : (entry.timestamp as Json),
  }) as Leftovers;
}

function withMeta(format: string, meta: Leftovers): { meta?: { readonly [key: string]: Json } } {
  return Object.keys(meta).length > 0 ? { meta: { [format]: meta } } : {};
}
