import type { MessageInput } from "../../index.ts";
import { wordsOf } from "./request-facts.ts";

/** A summary stands near the beginning of the conversation that goes on from it. */
const FIRST_MESSAGES = 6;
/** Shorter ones could be any sentence. */
const LEAST_LENGTH = 12;
/** Clients may cut a summary or leave sections out; so much of it must be there. */
const MOST_OF_IT = 0.8;
const RUN_WORDS = 8;
const MOST_RUNS = 64;

/** True if a conversation carries the result of a compaction, whatever the client has wrapped around it. */
export function isContinuedFrom(summary: string, messages: readonly MessageInput[]): boolean {
  return placeOfSummary(summary, messages) !== undefined;
}

/** Which message carries the result of a compaction; undefined if none does. */
export function placeOfSummary(summary: string, messages: readonly MessageInput[]): number | undefined {
  const forms = [summary, insideTag(summary), summary.replace(THOUGHT, "")].flatMap((form) => {
    const plain = plainWords(form ?? "");
    return plain.length >= LEAST_LENGTH ? [plain] : [];
  });
  if (forms.length === 0) return undefined;
  const place = messages
    .slice(0, FIRST_MESSAGES)
    .findIndex((message, index) => forms.some((form) => carries(message, index, form)));
  return place < 0 ? undefined : place;
}

const THOUGHT = /<(analysis|thinking|scratchpad)>[\s\S]*?<\/\1>/gi;

/** What stands inside the tag that the answer was asked to have. */
function insideTag(text: string): string | undefined {
  return /<(summary|state_snapshot|compacted?_\w+|handoff)>([\s\S]*?)<\/\1>/i.exec(text)?.[2];
}

function carries(message: MessageInput, index: number, summary: string): boolean {
  const said = plainWords(wordsOf(message));
  // The model may have said the same in passing; as a reply the summary is the whole message, right at the beginning.
  if (message.role === "assistant") return index <= 2 && said === summary;
  return said.includes(summary) || shareOfRuns(summary, said) >= MOST_OF_IT;
}

/** How many runs of words of a text stand in another; 0 for texts too short to tell. */
function shareOfRuns(text: string, other: string): number {
  const words = text.split(" ");
  const last = words.length - RUN_WORDS;
  if (last < RUN_WORDS) return 0;
  const step = Math.max(1, Math.floor(last / MOST_RUNS));
  let runs = 0;
  let found = 0;
  for (let from = 0; from <= last; from += step) {
    runs++;
    if (other.includes(words.slice(from, from + RUN_WORDS).join(" "))) found++;
  }
  return found / runs;
}

/** Words alone: without tags, marks of formatting and white space. */
function plainWords(text: string): string {
  return text
    .replace(/<\/?[a-z][\w-]*>/gi, " ")
    .replace(/[#*_`>|-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
