import { estimateText } from "../../../window-entry.ts";
import type { RecallCallResult } from "./round-format.ts";

/** Shorter pieces are useless. */
const MIN_TOKENS = 60;
const NO_ROOM =
  "There is no room left in this conversation for what memory holds; answer with what you have.";
const CUT = "\n[the rest was cut, for there is no more room in this conversation]";

/** Cuts the answers to `roomTokens` in total, as far as possible, starting with the last. */
export function trimRecallResults(
  answers: readonly RecallCallResult[],
  roomTokens: number,
): readonly RecallCallResult[] {
  let left = roomTokens;
  return answers.map((answer, index) => {
    const tokens = estimateText(answer.text);
    const others = (answers.length - index - 1) * MIN_TOKENS;
    if (tokens <= left - others) {
      left -= tokens;
      return answer;
    }
    const text = cutText(answer.text, tokens, left - others);
    left -= estimateText(text);
    return { ...answer, text };
  });
}

function cutText(text: string, tokens: number, most: number): string {
  const limits = most - estimateText(CUT);
  if (limits < MIN_TOKENS) return NO_ROOM;
  let kept = text.slice(0, Math.floor((text.length * limits) / tokens));
  // Token density varies across text.
  while (estimateText(kept) > limits) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${kept.toWellFormed()}${CUT}`;
}
