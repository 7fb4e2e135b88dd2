import type { MessageInput } from "../../index.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import type { ForeignEdit } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodePiContent, decodePiOutput } from "./pi-block-decode.ts";
import { decodePiMessage } from "./pi-message.ts";
import type { RecentEntries } from "./recent-entries.ts";

/** Converts a compaction entry; undefined if it leaves nothing out. */
export function decodeCompactionEdit(
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
  return [{ role, parts, ...(model !== undefined && { model }), meta: { [format]: meta } }];
}

/** Converts a context_edit entry; undefined if it has no target. */
export function decodeContextEdit(
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
