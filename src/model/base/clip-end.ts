/** Shortens a text to at most `most` characters. A shortened text ends in "…", never in half of a surrogate pair. */
export function clipEnd(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text
    .slice(0, most - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()}…`;
}
