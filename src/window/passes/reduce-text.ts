import { findTroubleLines } from "./find-trouble-lines.ts";
import type { NameSet } from "./name-set.ts";

/** Number of lines considered at each end; together they may take half of the room. */
const END_LINES = 8;
const MAX_LINE_LENGTH = 300;
const GAP_LENGTH = 24;
/** With less room than this, no further line is worth trying. */
const MIN_ROOM_CHARACTERS = GAP_LENGTH + 8;

/**
 * Reduces a long text to about `maxLength` characters: its head, its tail, lines that report trouble, and lines with
 * names used elsewhere. Each gap states how many lines it covers.
 */
export function reduceText(
  text: string,
  maxLength: number,
  named: NameSet,
  trouble = findTroubleLines(text),
): string {
  const lines = text.split("\n");
  const chosen = new Set<number>();
  let left = maxLength;
  const choose = (index: number, atLeastLeft = 0) => {
    const length = Math.min(lines[index]?.length ?? 0, MAX_LINE_LENGTH) + 1;
    const cost = length + (chosen.has(index - 1) || chosen.has(index + 1) ? 0 : GAP_LENGTH);
    if (chosen.has(index) || cost > left - atLeastLeft) return;
    chosen.add(index);
    left -= cost;
  };
  for (let offset = 0; offset < Math.min(END_LINES, lines.length); offset++) {
    choose(offset, maxLength / 2);
    choose(lines.length - 1 - offset, maxLength / 2);
  }
  for (const index of trouble) {
    choose(index);
    if (left < MIN_ROOM_CHARACTERS) break;
  }
  let from = 0;
  for (const [index, line] of lines.entries()) {
    if (left < MIN_ROOM_CHARACTERS) break;
    if (!chosen.has(index) && named.isIn(text, from, from + line.length)) choose(index);
    from += line.length + 1;
  }
  return joinWithGaps(lines, chosen);
}

function joinWithGaps(lines: readonly string[], chosen: ReadonlySet<number>): string {
  const shown: string[] = [];
  let next = 0;
  const gapTo = (index: number) => {
    if (index > next) shown.push(`… ${index - next} ${index - next === 1 ? "line" : "lines"} …`);
  };
  for (const index of [...chosen].toSorted((one, other) => one - other)) {
    gapTo(index);
    const line = lines[index] as string;
    shown.push(
      line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1).toWellFormed()}…` : line,
    );
    next = index + 1;
  }
  gapTo(lines.length);
  return shown.join("\n");
}
