import type { ProviderFailure } from "../../wire/provider-failure.ts";

/** The parts of a failure that identify the problem, without any content of the request that the body may echo. */
export interface FailureFacts {
  readonly statuses: ReadonlySet<number>;
  /** Error codes, types and stop reasons, in lower case. */
  readonly codes: ReadonlySet<string>;
  /** Messages, innermost first. */
  readonly texts: readonly string[];
  /** Names of request fields, as in `messages[3].content`. */
  readonly fields: readonly string[];
  readonly promptTokens?: number;
  readonly windowTokens?: number;
}

const CODE_KEYS =
  "code type status statusCode error_type errorType name __type reason stop_reason stopReason finish_reason finishReason".split(
    " ",
  );
const TEXT_KEYS = "message error detail description errorMessage Message msg raw body".split(" ");
const INNER_KEYS =
  "error errors cause detail details metadata response data body delta message choices incomplete_details".split(
    " ",
  );

const MAX_DEPTH = 8;
const MAX_ELEMENTS = 20;
const MAX_CODE_CHARACTERS = 100;
const MAX_PARSED_CHARACTERS = 100_000;
const MAX_TEXT_CHARACTERS = 4_000;

/** Collects the facts of a failure, including errors that proxies have wrapped as text inside another error. */
export function collectFailureFacts(failure: ProviderFailure): FailureFacts {
  const facts: FactCollector = {
    statuses: new Set(),
    codes: new Set(),
    texts: [],
    fields: [],
    seen: new Set(),
  };
  if (failure.status !== undefined) facts.statuses.add(failure.status);
  visit(failure.body, facts, 0);
  visit(failure.message, facts, 0);
  return facts;
}

interface FactCollector {
  readonly statuses: Set<number>;
  readonly codes: Set<string>;
  readonly texts: string[];
  readonly fields: string[];
  readonly seen: Set<object>;
  promptTokens?: number;
  windowTokens?: number;
}

function visit(value: unknown, facts: FactCollector, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === "string") visitText(value, facts, depth);
  if (typeof value !== "object" || value === null || facts.seen.has(value)) return;
  facts.seen.add(value);
  if (Array.isArray(value)) {
    for (const element of value.slice(0, MAX_ELEMENTS)) visit(element, facts, depth + 1);
  } else visitObject(value, facts, depth);
}

function visitText(text: string, facts: FactCollector, depth: number): void {
  const inner = parseJsonIn(text);
  if (inner !== undefined) visit(inner, facts, depth + 1);
  const status = /^\s*(?:error(?: code)?:? )?([45]\d\d)\b/i.exec(text)?.[1];
  if (status !== undefined) facts.statuses.add(Number(status));
  if (text.trim() !== "") facts.texts.push(text.slice(0, MAX_TEXT_CHARACTERS));
}

function visitObject(value: object, facts: FactCollector, depth: number): void {
  const entries = new Map<string, unknown>(Object.entries(value));
  for (const key of INNER_KEYS) {
    const inner = entries.get(key);
    if (typeof inner === "object") visit(inner, facts, depth + 1);
  }
  for (const key of TEXT_KEYS) {
    const text = entries.get(key);
    if (typeof text === "string") visitText(text, facts, depth);
  }
  for (const key of CODE_KEYS) addCode(entries.get(key), facts);
  const field = entries.get("param");
  if (typeof field === "string") facts.fields.push(field.slice(0, MAX_CODE_CHARACTERS));
  const promptTokens = entries.get("n_prompt_tokens");
  if (typeof promptTokens === "number") facts.promptTokens = promptTokens;
  const windowTokens = entries.get("n_ctx");
  if (typeof windowTokens === "number") facts.windowTokens = windowTokens;
}

function addCode(code: unknown, facts: FactCollector): void {
  if (typeof code === "number") facts.statuses.add(code);
  else if (typeof code !== "string" || code.length > MAX_CODE_CHARACTERS) return;
  else if (/^\d{3}$/.test(code)) facts.statuses.add(Number(code));
  else facts.codes.add(code.toLowerCase());
}

/** The JSON value in a text, such as the object after the prefix `400 `; undefined if there is none. */
function parseJsonIn(text: string): unknown {
  if (text.length > MAX_PARSED_CHARACTERS) return undefined;
  const from = text.search(/[{[]/);
  const to = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (from < 0 || to <= from) return undefined;
  try {
    return JSON.parse(text.slice(from, to + 1));
  } catch {
    return undefined;
  }
}
