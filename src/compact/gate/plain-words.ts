/** Words as they can be compared: without marks of emphasis, quotes, punctuation at word ends, line breaks, case. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[“”„«»「」『』"'`‘’*_]/g, "")
    .replace(/[，。；：！？、]/g, " ")
    .replace(/[,.;:!?…]+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
