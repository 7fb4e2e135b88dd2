import { estimateText } from "../../index.ts";
import type { OwnAnswer } from "./rounds/joiner.ts";

/** Shorter pieces of what was found say nothing. */
const LEAST_TOKENS = 60;
const NO_ROOM =
  "There is no room left in this conversation for what memory holds; answer with what you have.";
const CUT = "\n[the rest was cut, for there is no more room in this conversation]";

/** Answers in at most so many tokens together, as far as that can be: what is too long is cut, the last in the row first. */
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
  // Words do not lie equally thick everywhere.
  while (estimateText(kept) > room) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${kept.toWellFormed()}${CUT}`;
}
