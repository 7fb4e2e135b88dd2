/** Normalizes a text for comparison: no emphasis, quotes, punctuation at word ends, line breaks or case. */
export function normalizeWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[“”„«»「」『』"'`‘’*_]/g, "")
    .replace(/[，。；：！？、]/g, " ")
    .replace(/[,.;:!?…]+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
