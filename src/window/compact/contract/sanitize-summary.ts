import { findFenceAt } from "../../../model/base/fence.ts";
import { unwrapSummary } from "./parse-summary.ts";
import { withoutDelimiters } from "./summary-fence.ts";

const ROLE =
  /^\s*(?:#{1,6}\s*)?(?:\*\*|__|\[|<)?(?:system|developer|human|assistant|user|tool|系统|用户|助手)(?:\s+(?:prompt|message|instructions?))?(?:\*\*|__|\]|>)?\s*[:：]/i;
const TAGS =
  /<(?=\s*\/?\s*(?:\||system|developer|assistant|human|user|tool|function|invoke|instructions?|antml|<SYS|<\/SYS))/gi;
const TOKENS = /\[(\/?INST)\]/gi;

/** True if a line pretends that another speaker begins. */
export function isRoleMarker(line: string): boolean {
  return ROLE.test(line) || new RegExp(TAGS.source, "i").test(line) || /\[\/?INST\]/i.test(line);
}

/**
 * Makes a model's summary safe: strips its wrappers, turns lines that imitate a role or system text into quotes, and
 * removes the brackets of control tokens and delimiters. Genuine quote fences stay unchanged.
 */
export function sanitizeSummary(text: string): string {
  const lines = unwrapSummary(text).split("\n");
  const safe: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fenced = findFenceAt("quoted-data", lines, at);
    if (fenced) {
      for (const line of lines.slice(at, fenced.end + 1)) safe.push(line);
      at = fenced.end;
    } else safe.push(sanitizeLine(lines[at] as string));
  }
  return safe.join("\n").trim();
}

/** Makes one line safe: nothing in it can be mistaken for a role, a control token or a delimiter. */
export function sanitizeLine(line: string): string {
  const plain = withoutControlTokens(line);
  return ROLE.test(plain) ? `> ${plain.trim().replace(/[:：]/, " says:")}` : plain;
}

/** Neutralizes control tokens of chat formats, tags that imitate a role, and fence delimiters. */
export function withoutControlTokens(text: string): string {
  return withoutDelimiters(text).replace(TAGS, "‹").replace(TOKENS, "($1)");
}
