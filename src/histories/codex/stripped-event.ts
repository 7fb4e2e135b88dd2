import type { Json } from "../../kernel/index.ts";
import { toText } from "../../wire/fields.ts";
import { isEmpty } from "../content/non-empty-fields.ts";
import { CopyFilter } from "../deduplication/copy-filter.ts";
import { COPY_RULES } from "../deduplication/copy-rules.ts";
import type { KnownPrints } from "../deduplication/known-prints.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Display events that repeat items, with the field that holds the text. */
const TEXT_FIELDS: Readonly<Record<string, string>> = {
  user_message: "message",
  agent_message: "message",
  agent_reasoning: "text",
  agent_reasoning_raw_content: "text",
  task_complete: "last_agent_message",
  turn_complete: "last_agent_message",
  web_search_end: "query",
};

/** Events that may precede the item they repeat; all others follow it. */
const ANNOUNCEMENTS: readonly string[] = [
  "user_message",
  "agent_message",
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "web_search_end",
];

/** An event without content that is already known. */
export interface StrippedEvent {
  /** The remaining event; undefined if it has nothing new. */
  readonly rest: JsonObject | undefined;
  readonly copiedBytes: number;
  /** False if the event's main text is unknown: its item may still follow. */
  readonly isKnown: boolean;
}

/** Removes content from an event that items already have. */
export function stripKnownTexts(payload: JsonObject, known: KnownPrints): StrippedEvent {
  const saying = getEventText(payload);
  const isKnown = saying === undefined || isKnownText(payload, saying, known);
  const stripped = new CopyFilter(COPY_RULES.codex, known).strip(payload).value as JsonObject;
  const fields = Object.entries(stripped).filter(
    ([name]) => !isKnown || !isRepeatedField(name, payload, known),
  );
  const news = fields.filter(([name, value]) => name !== "type" && !isEmpty(value));
  if (saying !== undefined && isKnown && news.length === 0)
    return { rest: undefined, copiedBytes: countBytes(payload), isKnown };
  const left = Object.fromEntries(fields);
  return { rest: left, copiedBytes: Math.max(0, countBytes(payload) - countBytes(left)), isKnown };
}

/**
 * Returns an object if the event must wait before it can be compared: with a call id for that call's output, without
 * one for an item. Returns undefined if the event need not wait.
 */
export function findAwaitedItem(payload: JsonObject): { readonly callId?: string } | undefined {
  const type = toText(payload.type) ?? "";
  if (ANNOUNCEMENTS.includes(type)) return {};
  const callId = toText(payload.call_id);
  return type.endsWith("_end") && callId !== undefined ? { callId } : undefined;
}

function getEventText(payload: JsonObject): string | undefined {
  const type = toText(payload.type) ?? "";
  const field = Object.hasOwn(TEXT_FIELDS, type) ? TEXT_FIELDS[type] : undefined;
  return field === undefined ? undefined : toText(payload[field]);
}

function isKnownText(payload: JsonObject, saying: string, known: KnownPrints): boolean {
  if (payload.type !== "web_search_end") return known.hasText(saying);
  return payload.action !== undefined && known.hasText(JSON.stringify(payload.action));
}

/** Tells whether a field repeats the item: its text or its phase. */
function isRepeatedField(name: string, payload: JsonObject, known: KnownPrints): boolean {
  const value = payload[name];
  if (payload.type === "web_search_end")
    return name === "action" || (name === "query" && isInAction(payload));
  if (typeof value !== "string") return false;
  return (
    value === getEventText(payload) ||
    (name === "phase" && known.hasText(buildPhaseKey(getEventText(payload), value)))
  );
}

function isInAction({ action, query }: JsonObject): boolean {
  return action !== null && typeof action === "object" && Object.values(action).includes(query);
}

/** Builds the key that remembers a message together with its phase. */
export function buildPhaseKey(text: string | undefined, phase: string): string {
  return `${phase}\n${text}`;
}

function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value as Json));
}
