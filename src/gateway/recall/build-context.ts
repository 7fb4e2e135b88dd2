import { type EntryId, flattenParts, type MessageInput } from "../../index.ts";
import { buildContextBlock, shouldRetrieve, type WindowContent } from "../../memory-entry.ts";
import { estimateText } from "../../window-entry.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { MemorySearch } from "../exchange/memory-search.ts";
import { getSlotEntry } from "../outgoing/plan-outgoing.ts";

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
): Promise<string | undefined> {
  if (hits.length === 0) return undefined;
  const shown = await findShown(call);
  // A file that the message names and the window contains need not be recalled.
  if (!shouldRetrieve(words, { texts: shown.texts })) return undefined;
  const budgetTokens = Math.floor(Math.min(MAX_TOKENS, call.request.limits.window * MAX_SHARE, roomTokens));
  if (budgetTokens < 1) return undefined;
  return buildContextBlock(hits, { tokensOf: estimateText, budgetTokens, shown })?.text;
}

async function findShown({
  fitted,
  thread,
  request: callRequest,
}: ThreadCall): Promise<Required<WindowContent>> {
  if (!fitted) {
    const line = await thread.line();
    const texts = callRequest.messages.list.flatMap((message) => collectTexts(message.input()));
    return { entries: new Set(line.map(({ id }) => id)), texts };
  }
  const whole = fitted.slots.filter(
    ({ isNote, original, message }) => !isNote && (!original || original === message),
  );
  const entries = whole.map((slot): EntryId => getSlotEntry(slot, thread.session.id));
  const texts = fitted.messages.flatMap((message) =>
    flattenParts(message).flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
  return { entries: new Set(entries), texts };
}

function collectTexts({ text, parts = [] }: MessageInput): readonly string[] {
  return [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => {
      if (part.type === "text") return [part.text];
      if (part.type !== "tool-result") return [];
      return typeof part.output === "string"
        ? [part.output]
        : collectTexts({ role: "tool", parts: part.output });
    }),
  ];
}
