import type { MessageInput } from "../../index.ts";
import { getMessageText } from "./request-kind.ts";

/** A summary stands near the beginning of the conversation that continues from it. */
const FIRST_MESSAGES = 6;
/** Shorter summaries could match any sentence. */
const MIN_LENGTH = 12;
/** Share of a summary that must be present; clients may cut it or leave sections out. */
const MIN_SHARE = 0.8;
const RUN_WORDS = 8;
const MAX_RUNS = 64;

/** True if a conversation contains the result of a compaction, even if the client has wrapped it in other text. */
export function hasSummary(summary: string, messages: readonly MessageInput[]): boolean {
  return findSummaryIndex(summary, messages) !== undefined;
}

/** Index of the message that contains the result of a compaction; undefined if none does. */
export function findSummaryIndex(summary: string, messages: readonly MessageInput[]): number | undefined {
  const forms = [summary, findTagged(summary), summary.replace(REASONING_TAGS, "")].flatMap((form) => {
    const plain = normalizeWords(form ?? "");
    return plain.length >= MIN_LENGTH ? [plain] : [];
  });
  if (forms.length === 0) return undefined;
  const place = messages
    .slice(0, FIRST_MESSAGES)
    .findIndex((message, index) => forms.some((form) => isCarrying(message, index, form)));
  return place < 0 ? undefined : place;
}

const REASONING_TAGS = /<(analysis|thinking|scratchpad)>[\s\S]*?<\/\1>/gi;

/** The text inside the tag that the client asked the summary to have. */
function findTagged(text: string): string | undefined {
  return /<(summary|state_snapshot|compacted?_\w+|handoff)>([\s\S]*?)<\/\1>/i.exec(text)?.[2];
}

function isCarrying(message: MessageInput, index: number, summary: string): boolean {
  const text = normalizeWords(getMessageText(message));
  // The model may quote the same text; as a reply, the summary must be the whole message and near the beginning.
  if (message.role === "assistant") return index <= 2 && text === summary;
  return text.includes(summary) || computeRunShare(summary, text) >= MIN_SHARE;
}

/** Share of the word runs of a text that occur in another; 0 for texts too short to compare. */
function computeRunShare(text: string, other: string): number {
  const words = text.split(" ");
  const last = words.length - RUN_WORDS;
  if (last < RUN_WORDS) return 0;
  const step = Math.max(1, Math.floor(last / MAX_RUNS));
  let runs = 0;
  let found = 0;
  for (let from = 0; from <= last; from += step) {
    runs++;
    if (other.includes(words.slice(from, from + RUN_WORDS).join(" "))) found++;
  }
  return found / runs;
}

/** The words of a text in lower case, without tags, formatting marks and repeated white space. */
function normalizeWords(text: string): string {
  return text
    .replace(/<\/?[a-z][\w-]*>/gi, " ")
    .replace(/[#*_`>|-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
