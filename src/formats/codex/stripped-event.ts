import type { Json } from "../../index.ts";
import { toText } from "../content/fields.ts";
import { isEmpty } from "../content/non-empty-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { KnownTexts } from "../copies/known-prints.ts";

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

/** Shorter texts are not worth recognizing as copies. */
const MIN_CHARACTERS = 64;
const MAX_DEPTH = 6;

/** An event without content that is already known. */
export interface StrippedEvent {
  /** The remaining event; undefined if it has nothing new. */
  readonly rest: JsonObject | undefined;
  readonly copiedBytes: number;
  /** False if the event's main text is unknown: its item may still follow. */
  readonly isKnown: boolean;
}

/** Removes content from an event that items already have. */
export function stripKnownTexts(payload: JsonObject, known: KnownTexts): StrippedEvent {
  const saying = getEventText(payload);
  const isKnown = saying === undefined || isKnownText(payload, saying, known);
  const stripped = stripObject(payload, known, 0);
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

function isKnownText(payload: JsonObject, saying: string, known: KnownTexts): boolean {
  if (payload.type !== "web_search_end") return known.has(saying);
  return payload.action !== undefined && known.has(JSON.stringify(payload.action));
}

/** Tells whether a field repeats the item: its text or its phase. */
function isRepeatedField(name: string, payload: JsonObject, known: KnownTexts): boolean {
  const value = payload[name];
  if (payload.type === "web_search_end")
    return name === "action" || (name === "query" && isInAction(payload));
  if (typeof value !== "string") return false;
  return (
    value === getEventText(payload) ||
    (name === "phase" && known.has(buildPhaseKey(getEventText(payload), value)))
  );
}

function isInAction({ action, query }: JsonObject): boolean {
  return action !== null && typeof action === "object" && Object.values(action).includes(query);
}

/** Builds the key that remembers a message together with its phase. */
export function buildPhaseKey(text: string | undefined, phase: string): string {
  return `${phase}\n${text}`;
}

/** Returns the value without known long texts and objects. */
function stripObject(value: JsonObject, known: KnownTexts, depth: number): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => !isKnownValue(field, known))
      .map(([name, field]) => [name, stripValue(field, known, depth + 1)]),
  );
}

function stripValue(value: unknown, known: KnownTexts, depth: number): unknown {
  if (value === null || typeof value !== "object" || depth > MAX_DEPTH) return value;
  if (!Array.isArray(value)) return stripObject(value as JsonObject, known, depth);
  return value
    .filter((element) => !isKnownValue(element, known))
    .map((element) => stripValue(element, known, depth + 1));
}

function isKnownValue(value: unknown, known: KnownTexts): boolean {
  if (typeof value === "string") return value.length >= MIN_CHARACTERS && known.has(value);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const text = JSON.stringify(value);
  return text.length >= MIN_CHARACTERS && known.has(text);
}

function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value as Json));
}
