import { estimateText } from "../../index.ts";
import type { OwnAnswer } from "./rounds/joiner.ts";

/** Shorter pieces are useless. */
const LEAST_TOKENS = 60;
const NO_ROOM =
  "There is no room left in this conversation for what memory holds; answer with what you have.";
const CUT = "\n[the rest was cut, for there is no more room in this conversation]";

/** Cuts the answers to `roomTokens` in total, as far as possible, starting with the last. */
export function answersWithin(answers: readonly OwnAnswer[], roomTokens: number): readonly OwnAnswer[] {
  let left = roomTokens;
  return answers.map((answer, index) => {
    const tokens = estimateText(answer.text);
    const others = (answers.length - index - 1) * LEAST_TOKENS;
    if (tokens <= left - others) {
      left -= tokens;
      return answer;
    }
    const text = cutTo(answer.text, tokens, left - others);
    left -= estimateText(text);
    return { ...answer, text };
  });
}

function cutTo(text: string, tokens: number, most: number): string {
  const room = most - estimateText(CUT);
  if (room < LEAST_TOKENS) return NO_ROOM;
  let kept = text.slice(0, Math.floor((text.length * room) / tokens));
  // Token density varies across text.
  while (estimateText(kept) > room) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${kept.toWellFormed()}${CUT}`;
}
