/** Words that indicate trouble. Searching for each word separately is many times faster than one regular expression. */
const WORDS = [
  ...["error", "fail", "exception", "panic", "fatal", "traceback", "assert", "undefined", "cannot", "denied"],
  ...["not found", "warning", "✗", "✘", "×"],
];

/** Indexes of the lines of a text that indicate trouble, in order. */
export function findTroubleLines(text: string): readonly number[] {
  const lower = text.toLowerCase();
  const places: number[] = [];
  for (const word of WORDS) {
    for (let at = lower.indexOf(word); at >= 0; ) {
      const isFound = !isInsideWord(lower, at);
      if (isFound) places.push(at);
      at = lower.indexOf(word, isFound ? findLineEnd(lower, at) : at + 1);
    }
  }
  return toLineIndexes(lower, places);
}

/** Skips the rest of a line in which the word was found. */
function findLineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function isInsideWord(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 97 && before <= 122;
}

function toLineIndexes(text: string, places: readonly number[]): readonly number[] {
  const lines = new Set<number>();
  let line = 0;
  let end = findLineEnd(text, 0);
  for (const place of [...places].sort((one, other) => one - other)) {
    while (end < place) {
      line++;
      end = findLineEnd(text, end + 1);
    }
    lines.add(line);
  }
  return [...lines];
}
