import type { MessageInput, Session } from "../index.ts";
import { textOfMessage } from "../index.ts";
import type { LineDeparture } from "../log-entry.ts";
import type { CachedLine } from "./line-cache.ts";
import type { CallerMessage } from "./placed-messages.ts";

/** Shorter replies are not summaries of a conversation. */
const MIN_SUMMARY = 100;
/** Longer words may be a summary that was made elsewhere. */
const MAX_OWN_WORDS = 2_000;

/**
 * Why messages after the first `keep` leave the line. A person who goes back goes on with a few new words; a caller that
 * rewrites its history also repeats replies or later messages, and one that compacted it goes on with a summary.
 */
export async function findDeparture(
  session: Session,
  line: CachedLine,
  given: readonly CallerMessage[],
  keep: number,
): Promise<LineDeparture> {
  const later = new Set(line.keys.slice(keep));
  const fresh = given.slice(keep);
  if (fresh.some(({ key }) => later.has(key))) return "branched";
  const inputs = fresh.map((message) => message.input());
  if (inputs.some(({ role }) => role === "assistant" || role === "tool")) return "branched";
  const words = collapseSpaces(inputs.map(readText).join("\n"));
  const reply = line.messages.slice(keep).findLast(({ role }) => role === "assistant");
  if (reply && words.length >= MIN_SUMMARY) {
    const entry = await session.entry(reply.id);
    const text = entry?.kind === "message" ? collapseSpaces(textOfMessage(entry.message)) : "";
    if (text.length >= MIN_SUMMARY && words.includes(text)) return "trimmed";
  }
  return words.length > MAX_OWN_WORDS ? "branched" : "taken-back";
}

function readText({ text, parts = [] }: MessageInput): string {
  return [text ?? "", ...parts.map((part) => (part.type === "text" ? part.text : ""))].join("\n");
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
