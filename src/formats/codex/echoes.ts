import type { Json } from "../../index.ts";
import { textOf } from "../content/fields.ts";
import { isEmpty } from "../content/told-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { KnownTexts } from "./known-texts.ts";

/** Display events that repeat items, with the field that holds the text. */
const SAYINGS: Readonly<Record<string, string>> = {
  user_message: "message",
  agent_message: "message",
  agent_reasoning: "text",
  agent_reasoning_raw_content: "text",
  task_complete: "last_agent_message",
  turn_complete: "last_agent_message",
  web_search_end: "query",
};

/** Events that may precede the item they repeat; all others follow it. */
const ANNOUNCING: readonly string[] = [
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
export interface EventRest {
  /** The remaining event; undefined if it has nothing new. */
  readonly left: JsonObject | undefined;
  readonly copiedBytes: number;
  /** False if the event's main text is unknown: its item may still follow. */
  readonly isKnown: boolean;
}

/** Removes content from an event that items already have. */
export function restOfEvent(payload: JsonObject, known: KnownTexts): EventRest {
  const saying = sayingOf(payload);
  const isKnown = saying === undefined || isSaid(payload, saying, known);
  const stripped = strip(payload, known, 0);
  const fields = Object.entries(stripped).filter(
    ([name]) => !isKnown || !isPartOfSaying(name, payload, known),
  );
  const news = fields.filter(([name, value]) => name !== "type" && !isEmpty(value));
  if (saying !== undefined && isKnown && news.length === 0)
    return { left: undefined, copiedBytes: sizeOf(payload), isKnown };
  const left = Object.fromEntries(fields);
  return { left, copiedBytes: Math.max(0, sizeOf(payload) - sizeOf(left)), isKnown };
}

/**
 * Returns an object if the event must wait before it can be compared: with a call id for that call's output, without
 * one for an item. Returns undefined if the event need not wait.
 */
export function awaitedBy(payload: JsonObject): { readonly callId?: string } | undefined {
  const type = textOf(payload.type) ?? "";
  if (ANNOUNCING.includes(type)) return {};
  const callId = textOf(payload.call_id);
  return type.endsWith("_end") && callId !== undefined ? { callId } : undefined;
}

function sayingOf(payload: JsonObject): string | undefined {
  const type = textOf(payload.type) ?? "";
  const field = Object.hasOwn(SAYINGS, type) ? SAYINGS[type] : undefined;
  return field === undefined ? undefined : textOf(payload[field]);
}

function isSaid(payload: JsonObject, saying: string, known: KnownTexts): boolean {
  if (payload.type !== "web_search_end") return known.has(saying);
  return payload.action !== undefined && known.has(JSON.stringify(payload.action));
}

/** Tells whether a field repeats the item: its text or its phase. */
function isPartOfSaying(name: string, payload: JsonObject, known: KnownTexts): boolean {
  const value = payload[name];
  if (payload.type === "web_search_end")
    return name === "action" || (name === "query" && isInAction(payload));
  if (typeof value !== "string") return false;
  return (
    value === sayingOf(payload) || (name === "phase" && known.has(saidInPhase(sayingOf(payload), value)))
  );
}

function isInAction({ action, query }: JsonObject): boolean {
  return action !== null && typeof action === "object" && Object.values(action).includes(query);
}

/** Builds the key that remembers a message together with its phase. */
export function saidInPhase(text: string | undefined, phase: string): string {
  return `${phase}\n${text}`;
}

/** Returns the value without known long texts and objects. */
function strip(value: JsonObject, known: KnownTexts, depth: number): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => !isKnownValue(field, known))
      .map(([name, field]) => [name, stripped(field, known, depth + 1)]),
  );
}

function stripped(value: unknown, known: KnownTexts, depth: number): unknown {
  if (value === null || typeof value !== "object" || depth > MAX_DEPTH) return value;
  if (!Array.isArray(value)) return strip(value as JsonObject, known, depth);
  return value
    .filter((element) => !isKnownValue(element, known))
    .map((element) => stripped(element, known, depth + 1));
}

function isKnownValue(value: unknown, known: KnownTexts): boolean {
  if (typeof value === "string") return value.length >= MIN_CHARACTERS && known.has(value);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const text = JSON.stringify(value);
  return text.length >= MIN_CHARACTERS && known.has(text);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value as Json));
}
