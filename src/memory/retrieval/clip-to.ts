/** The longest beginning of a text that fits, cut between words if possible, followed by "…"; "" if none fits. */
export function clipTo(text: string, fits: (text: string) => boolean): string {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(clipAt(text, middle))) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : clipAt(text, low);
}

function clipAt(text: string, length: number): string {
  if (length >= text.length) return text;
  const cut = text.slice(0, length);
  const space = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"));
  const end = space > length * 0.8 ? space : length;
  // Avoids ending in half a surrogate pair.
  return `${cut
    .slice(0, end)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()} …`;
}
