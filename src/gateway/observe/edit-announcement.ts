import { formatTokens } from "./format-tokens.ts";

/** An edit of a window, as people are told of it. */
interface AnnouncedEdit {
  readonly session: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Further calls until it has paid for itself; null if never. */
  readonly breakEvenCalls: number | null;
  readonly isForced: boolean;
  /** Undefined if nothing was changed. */
  readonly overlay?: number | undefined;
}

/** One sentence about an edit, with its price and the way back. */
export function formatAnnouncement(edit: AnnouncedEdit): string {
  const { session, tokensBefore, tokensAfter, breakEvenCalls, isForced, overlay } = edit;
  const sizes = `${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
  const gain = isForced ? "the window was full" : describeGain(breakEvenCalls);
  return overlay === undefined
    ? `would have edited the window here: ${sizes}, ${gain}`
    : `window edited: ${sizes}, ${gain}, undo: longhaul revert ${session} ${overlay}`;
}

function describeGain(calls: number | null): string {
  if (calls === null) return "estimated not to pay for itself";
  return calls === 0
    ? "estimated to pay at once"
    : `estimated to pay after ${calls} call${calls === 1 ? "" : "s"}`;
}

/** One sentence of advice, with the way to the text that would be carried over. */
export function formatAdvice(session: string, share: number): string {
  const percent = Math.round(share * 100);
  return `${percent} % of the window can never leave it: begin a new conversation, carried over: longhaul context ${session} --full`;
}
