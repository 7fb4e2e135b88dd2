import type { MessageInput } from "../../index.ts";

const MAX_CHARACTERS = 80;
const MAX_READ = 20_000;

/** A title for a conversation: the beginning of the first user message, without the client's additions. */
export function buildTitle(list: readonly MessageInput[]): string | undefined {
  for (const { role, text, parts = [] } of list) {
    if (role !== "user") continue;
    const texts = [text ?? "", ...parts.flatMap((part) => (part.type === "text" ? [part.text] : []))];
    const own = texts.map(removeTags).find((words) => words !== "" && !words.startsWith("<"));
    if (own !== undefined) return own.length > MAX_CHARACTERS ? `${own.slice(0, MAX_CHARACTERS - 1)}…` : own;
  }
  return undefined;
}

/** Maximum number of distinct unclosed tags to search for. */
const MAX_UNCLOSED = 64;

/** Removes tagged elements, which clients add themselves. */
function removeTags(text: string): string {
  const read = text.slice(0, MAX_READ);
  const lower = read.toLowerCase();
  const unclosed = new Set<string>();
  const opening = /<([a-z][\w-]{0,63})(?![\w-])[^<>]*>/gi;
  let kept = "";
  let at = 0;
  for (let tag = opening.exec(read); tag && unclosed.size < MAX_UNCLOSED; tag = opening.exec(read)) {
    const close = `</${tag[1]?.toLowerCase()}>`;
    const end = unclosed.has(close) ? -1 : lower.indexOf(close, opening.lastIndex);
    if (end < 0) unclosed.add(close);
    else {
      kept += `${read.slice(at, tag.index)} `;
      at = end + close.length;
      opening.lastIndex = at;
    }
  }
  return (kept + read.slice(at)).replace(/\s+/g, " ").trim();
}
