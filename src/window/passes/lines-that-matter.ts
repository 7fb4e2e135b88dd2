import { identifiersOf } from "../extract/identifiers.ts";

const TROUBLE =
  /\b(?:error|fail(?:ed|ure|s)?|exception|panic|fatal|traceback|assert\w*|undefined|cannot|denied|not found|warning)\b|[✗✘×]/i;
const END_LINES = 8;
const MAX_LINE_LENGTH = 300;
const GAP_LENGTH = 32;

/**
 * The head, the tail and the lines that matter of a long text, in at most so many characters: lines that tell of trouble,
 * and lines that name what is named later. Gaps say how many lines they are.
 */
export function linesThatMatter(text: string, maxLength: number, isNamed: (name: string) => boolean): string {
  const lines = text.split("\n");
  const chosen = new Set<number>();
  let left = maxLength;
  const choose = (index: number) => {
    const length = Math.min(lines[index]?.length ?? 0, MAX_LINE_LENGTH) + 1 + GAP_LENGTH;
    if (chosen.has(index) || length > left) return;
    chosen.add(index);
    left -= length;
  };
  for (let offset = 0; offset < Math.min(END_LINES, lines.length); offset++) {
    choose(offset);
    choose(lines.length - 1 - offset);
  }
  for (const [index, line] of lines.entries()) if (TROUBLE.test(line)) choose(index);
  for (const [index, line] of lines.entries()) if (names(line, isNamed)) choose(index);
  return withGaps(lines, chosen);
}

function names(line: string, isNamed: (name: string) => boolean): boolean {
  let isFound = false;
  identifiersOf(line, false, (name) => {
    isFound ||= isNamed(name);
  });
  return isFound;
}

function withGaps(lines: readonly string[], chosen: ReadonlySet<number>): string {
  const shown: string[] = [];
  let next = 0;
  const gapTo = (index: number) => {
    if (index > next) shown.push(`… ${index - next} ${index - next === 1 ? "line" : "lines"} …`);
  };
  for (const index of [...chosen].toSorted((one, other) => one - other)) {
    gapTo(index);
    const line = lines[index] as string;
    shown.push(line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line);
    next = index + 1;
  }
  gapTo(lines.length);
  return shown.join("\n");
}
