import { buildContextBlock, type ContextBlock, shouldRetrieve } from "../../memory-entry.ts";
import { estimateText } from "../../window-entry.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { MemorySearch } from "../exchange/exchange-state.ts";
import { findShownContent } from "./shown-content.ts";

const MAX_TOKENS = 2_000;
/** Maximum share of the window for the context recalled for one message. */
const MAX_SHARE = 0.02;

/**
 * The hits as a delimited block of at most `roomTokens`, without content that the model sees anyway; undefined if
 * nothing is left.
 */
export async function buildContext(
  { query: words, hits }: MemorySearch,
  call: ThreadCall,
  roomTokens: number,
): Promise<ContextBlock | undefined> {
  if (hits.length === 0) return undefined;
  const shown = await findShownContent(call);
  // A file that the message names and the window contains need not be recalled.
  if (!shouldRetrieve(words, { texts: shown.texts })) return undefined;
  const budgetTokens = Math.floor(Math.min(MAX_TOKENS, call.request.limits.window * MAX_SHARE, roomTokens));
  if (budgetTokens < 1) return undefined;
  return buildContextBlock(hits, { tokensOf: estimateText, budgetTokens, shown });
}
