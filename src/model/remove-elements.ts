/** Maximum number of names without a closing tag; text after that many stays unchanged. */
const MAX_UNCLOSED = 64;

/**
 * Replaces elements, with their content, in a single pass. `opening` is a global expression for opening tags whose
 * first group is the name. An element without a closing tag stays.
 */
export function removeElements(text: string, opening: RegExp, replacement: string): string {
  if (!text.includes("<")) return text;
  const unclosed = new Set<string>();
  let kept = "";
  let next = 0;
  for (const match of text.matchAll(opening)) {
    const name = (match[1] as string).toLowerCase();
    if (match.index < next || unclosed.has(name)) continue;
    const closing = new RegExp(`</${name}>`, "gi");
    closing.lastIndex = match.index + match[0].length;
    if (closing.test(text)) {
      kept += text.slice(next, match.index) + replacement;
      next = closing.lastIndex;
    } else if (unclosed.add(name).size >= MAX_UNCLOSED) break;
  }
  return kept + text.slice(next);
}
