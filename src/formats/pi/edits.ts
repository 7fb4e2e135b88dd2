import type { MessageInput } from "../../index.ts";
import { arrayOf, objectOf, textOf } from "../content/fields.ts";
import type { ForeignEdit } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { contentOfPi, outputOfPi } from "./blocks.ts";
import { messageOfPi } from "./messages.ts";
import type { RecentEntries } from "./recent-entries.ts";

/** Converts a compaction entry; undefined if it leaves nothing out. */
export function compactionEdit(
  entry: JsonObject,
  id: string,
  recent: RecentEntries,
  format: string,
): ForeignEdit | undefined {
  const summary = textOf(entry.summary);
  const through = lastLeftOut(entry, id, recent);
  if (summary === undefined || through === undefined) return undefined;
  const tail = arrayOf(entry.retainedTail).flatMap((message) => retained(message, format));
  const messages: MessageInput[] = [{ role: "user", text: summary }, ...tail];
  return { type: "summarize", spans: [{ through }], messages };
}

/** Returns the last entry that a compaction leaves out: the one before the first it keeps. */
function lastLeftOut(entry: JsonObject, id: string, recent: RecentEntries): string | undefined {
  const all = textOf(entry.parentId) ?? recent.last;
  if (entry.retainedTail !== undefined) return all;
  const { firstKeptEntryId: kept, firstKeptEntryIndex: index } = entry;
  // Version 1 has no ids and counts lines; the header is 0.
  if (typeof index === "number") return index > 1 ? `#${index - 1}` : undefined;
  if (typeof kept !== "string" || kept === id) return all;
  const before = recent.before(kept);
  // pi keeps only entries that it finds on the path to the compaction.
  return before === undefined ? all : (before ?? undefined);
}

function retained(message: unknown, format: string): MessageInput[] {
  const fields = objectOf(message);
  const decoded = fields && messageOfPi(fields, format, undefined);
  if (!decoded) return [];
  const { role, parts, model, meta } = decoded;
  return [{ role, parts, ...(model !== undefined && { model }), meta: { [format]: meta } }];
}

/** Converts a context_edit entry; undefined if it has no target. */
export function contextEdit(
  entry: JsonObject,
  recent: RecentEntries,
  format: string,
): ForeignEdit | undefined {
  const target = textOf(entry.targetId);
  if (target === undefined) return undefined;
  if (entry.replacement === null) return { type: "hide", spans: [{ from: target, through: target }] };
  const content = objectOf(entry.replacement)?.content;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const callId = recent.callIdOf(target);
  if (callId === undefined)
    return { type: "replace", target: { record: target }, parts: contentOfPi(content, format).parts };
  const output = outputOfPi(content, format);
  const parts = typeof output === "string" ? [{ type: "text", text: output } as const] : output;
  return { type: "replace", target: { callId }, parts };
}
