import type { MessageInput } from "../../index.ts";
import { wordsOf } from "./request-facts.ts";

/** A summary stands near the beginning of the conversation that continues from it. */
const FIRST_MESSAGES = 6;
/** Shorter summaries could match any sentence. */
const LEAST_LENGTH = 12;
/** Share of a summary that must be present; clients may cut it or leave sections out. */
const MOST_OF_IT = 0.8;
const RUN_WORDS = 8;
const MOST_RUNS = 64;

/** True if a conversation contains the result of a compaction, even if the client has wrapped it in other text. */
export function isContinuedFrom(summary: string, messages: readonly MessageInput[]): boolean {
  return placeOfSummary(summary, messages) !== undefined;
}

/** Index of the message that contains the result of a compaction; undefined if none does. */
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

/** The text inside the tag that the client asked the summary to have. */
function insideTag(text: string): string | undefined {
  return /<(summary|state_snapshot|compacted?_\w+|handoff)>([\s\S]*?)<\/\1>/i.exec(text)?.[2];
}

function carries(message: MessageInput, index: number, summary: string): boolean {
  const said = plainWords(wordsOf(message));
  // The model may quote the same text; as a reply, the summary must be the whole message and near the beginning.
  if (message.role === "assistant") return index <= 2 && said === summary;
  return said.includes(summary) || shareOfRuns(summary, said) >= MOST_OF_IT;
}

/** Share of the word runs of a text that occur in another; 0 for texts too short to compare. */
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

/** The words of a text in lower case, without tags, formatting marks and repeated white space. */
function plainWords(text: string): string {
  return text
    .replace(/<\/?[a-z][\w-]*>/gi, " ")
    .replace(/[#*_`>|-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
