import { estimateText } from "../../window/tokens/estimate.ts";
import type { SummaryItem, SummarySections } from "../contract/summary-sections.ts";
import { estimateItem } from "./fill-sections.ts";
import { findKeyIdentifiers, hasIdentifier } from "./key-identifiers.ts";
import { findRecentIdentifiers } from "./recent-identifiers.ts";
import type { SourceMessage } from "./source-message.ts";
import { collectRequests, filterPending } from "./user-request.ts";

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
