import { withoutDelimiters } from "./fence.ts";
import { fencedAt, unwrapped } from "./parse-summary.ts";

const ROLE =
  /^\s*(?:#{1,6}\s*)?(?:\*\*|__|\[|<)?(?:system|developer|human|assistant|user|tool|系统|用户|助手)(?:\s+(?:prompt|message|instructions?))?(?:\*\*|__|\]|>)?\s*[:：]/i;
const TAGS =
  /<(?=\s*\/?\s*(?:\||system|developer|assistant|human|user|tool|function|invoke|instructions?|antml|<SYS|<\/SYS))/gi;
const TOKENS = /\[(\/?INST)\]/gi;

/** Tells whether a line pretends that somebody else begins to speak. */
export function isRoleMarker(line: string): boolean {
  return ROLE.test(line) || new RegExp(TAGS.source, "i").test(line) || /\[\/?INST\]/i.test(line);
}

/**
 * A model's summary made harmless: what it is wrapped in goes, lines that pretend to be a role or a system text become
 * quotes, control tokens and delimiters lose their brackets. Genuine fences of quotes stay as they are.
 */
export function sanitiseSummary(text: string): string {
  const lines = unwrapped(text).split("\n");
  const safe: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fenced = fencedAt(lines, at);
    if (fenced) {
      for (const line of lines.slice(at, fenced.end + 1)) safe.push(line);
      at = fenced.end;
    } else safe.push(sanitiseLine(lines[at] as string));
  }
  return safe.join("\n").trim();
}

/** One line without anything that could be taken for a role, a control token or a delimiter. */
export function sanitiseLine(line: string): string {
  const plain = withoutControlTokens(line);
  return ROLE.test(plain) ? `> ${plain.trim().replace(/[:：]/, " says:")}` : plain;
}

/** Words without control tokens of chat formats, tags that pretend to be a role, and delimiters of fences. */
export function withoutControlTokens(text: string): string {
  return withoutDelimiters(text).replace(TAGS, "‹").replace(TOKENS, "($1)");
}
