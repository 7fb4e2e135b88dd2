import { walkJson } from "../../../model/base/walk-json.ts";
import type { Json } from "../../../model/json.ts";
import { scanIdentifiers } from "../../extract/scan-identifiers.ts";
import { estimateText } from "../../tokens/estimate.ts";
import type { SummaryItem, SummarySections } from "../contract/summary-sections.ts";
import { collectActions, collectFileStates } from "./actions.ts";
import { estimateItem } from "./fill-sections.ts";
import type { SourceMessage } from "./summary-candidate.ts";
import { collectRequests, filterPending, getUserText, type UserRequest } from "./user-request.ts";

/** Rows of identifiers and their tokens. */
interface IdentifierRows {
  readonly items: readonly SummaryItem[];
  readonly tokens: number;
}

const SHARE = 0.1;
const MIN_TOKENS = 100;
const MAX_TOKENS = 800;
const RECENT_MESSAGES = 80;
const ROW = 8;
const COMMA_TOKENS = 1.5;

/** Tokens of the identifiers that a summary must contain. */
export function estimateKeyTokens(messages: readonly SourceMessage[]): number {
  return findKeys(messages).reduce((sum, identifier) => sum + estimateText(identifier) + COMMA_TOKENS, 0);
}

/** Identifiers in use that the rest of the summary lacks: required ones first, then recently named ones. */
export function buildIdentifierRows(
  messages: readonly SourceMessage[],
  earlier: SummarySections | undefined,
  text: string,
  left: number,
): IdentifierRows {
  const keys = findKeys(messages);
  const most = Math.min(left * 0.6, Math.max(left * SHARE, MIN_TOKENS), MAX_TOKENS);
  const recent = findRecentIdentifiers(messages, RECENT_MESSAGES).map(({ identifier }) => identifier);
  const before = (earlier?.identifiers ?? []).flatMap((item) => item.text.split(/[,\s]+/));
  const chosen = new Set<string>();
  let tokens = 0;
  for (const [index, identifier] of [...keys, ...recent, ...before].entries()) {
    const isKey = index < keys.length;
    if (identifier === "" || chosen.has(identifier) || text.includes(identifier)) continue;
    if (isKey && hasIdentifier(text, identifier)) continue;
    const cost = estimateText(identifier) + COMMA_TOKENS;
    if (tokens + cost > (isKey ? left : most)) continue;
    tokens += cost;
    chosen.add(identifier);
  }
  const all = [...chosen];
  const items = Array.from({ length: Math.ceil(all.length / ROW) }, (_, row): SummaryItem => {
    return { text: all.slice(row * ROW, (row + 1) * ROW).join(", ") };
  });
  return { items, tokens: items.reduce((sum, item) => sum + estimateItem(item), 0) };
}

function findKeys(messages: readonly SourceMessage[]): readonly string[] {
  return findKeyIdentifiers(messages, filterPending(collectRequests(messages)));
}

/** An identifier that was named; frequent and recent ones have a higher worth. */
interface NamedIdentifier {
  readonly identifier: string;
  /** Number of messages that name it. */
  readonly times: number;
  readonly worth: number;
}

/** Age, in messages, at which a mention counts half. */
const HALF_LIFE_MESSAGES = 12;
const MAX_IDENTIFIER_CHARACTERS = 160;
/** A status word that appears in every to-do list. */
const STATUS_WORD = "in_progress";
/** Longest call argument, in characters, that is searched; longer ones are file contents. */
const MAX_INPUT = 4_000;

/** Identifiers that user and assistant named in the last messages, highest worth first; tool results do not count. */
function findRecentIdentifiers(messages: readonly SourceMessage[], last: number): readonly NamedIdentifier[] {
  const named = new Map<string, { times: number; worth: number }>();
  for (const [age, told] of messages.slice(-last).toReversed().entries()) {
    const seen = new Set<string>();
    for (const text of listNamingTexts(told))
      scanIdentifiers(text, false, (identifier) => seen.add(identifier));
    for (const identifier of seen) {
      if (identifier.length > MAX_IDENTIFIER_CHARACTERS || identifier === STATUS_WORD) continue;
      const known = named.get(identifier) ?? { times: 0, worth: 0 };
      named.set(identifier, {
        times: known.times + 1,
        worth: known.worth + HALF_LIFE_MESSAGES / (HALF_LIFE_MESSAGES + age),
      });
    }
  }
  return [...named]
    .map(([identifier, counts]) => ({ identifier, ...counts }))
    .sort((one, other) => other.worth - one.worth || (one.identifier < other.identifier ? -1 : 1));
}

function listNamingTexts({ message }: SourceMessage): readonly string[] {
  if (message.role === "user") return [getUserText(message)];
  if (message.role !== "assistant") return [];
  return message.parts.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "tool-call" ? listArgumentTexts(part.input, MAX_INPUT) : [];
  });
}

/** The texts among a call's arguments. Argument names belong to the tool and not to the conversation. */
function listArgumentTexts(input: Json, most: number): readonly string[] {
  return [...walkJson(input)].flatMap(({ value }) =>
    typeof value === "string" ? [value.slice(0, most)] : [],
  );
}

const LAST_MESSAGES = 12;
const MIN_TIMES = 2;
const MAX_NAMED = 10;
const MAX_ASKED = 6;
const MAX_CHANGED = 6;
const ASK_LENGTH = 1_000;

/**
 * The identifiers that a summary must contain literally: names that recur in the last turns, files they changed, and
 * names in pending requests.
 */
export function findKeyIdentifiers(
  messages: readonly SourceMessage[],
  pending: readonly UserRequest[],
): readonly string[] {
  const named = findRecentIdentifiers(messages, LAST_MESSAGES)
    .filter(({ identifier, times }) => times >= MIN_TIMES && !/^\d{1,6}$/.test(identifier))
    .slice(0, MAX_NAMED)
    .map(({ identifier }) => identifier);
  const changed = collectFileStates(collectActions(messages.slice(-LAST_MESSAGES)))
    .filter(({ changes }) => changes > 0)
    .slice(-MAX_CHANGED)
    .map(({ path }) => path);
  const asked = new Set<string>();
  for (const { text } of pending)
    scanIdentifiers(text.slice(0, ASK_LENGTH), false, (name) => asked.add(name));
  return [...new Set([...named, ...changed, ...[...asked].slice(0, MAX_ASKED)])];
}

/** True if a text contains an identifier; a path may lack its beginning as long as two segments remain. */
export function hasIdentifier(text: string, identifier: string): boolean {
  if (text.includes(identifier)) return true;
  const steps = identifier.split("/").filter(Boolean);
  for (let from = 1; from <= steps.length - 2; from++)
    if (text.includes(steps.slice(from).join("/"))) return true;
  return false;
}
