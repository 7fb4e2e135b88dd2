import type { LineCut } from "./line-cut.ts";

/** Opaque ids and addresses of an API, and members without a value. A link for people stays. */
const MEMBER =
  /"(?:(?:(?!html_url)[a-z_]*_url|node_id|gravatar_id)": ?"(?:[^"\\]|\\.)*"|[^"\\]{1,60}": ?(?:null|\[\]|\{\}))/
    .source;
const FIRST = new RegExp(`${MEMBER},[ \\t]*`, "g");
const LAST = new RegExp(`, ?${MEMBER}(?= ?\\})`, "g");
const ONLY = new RegExp(`^[ \\t]*${MEMBER},?$`);
/** One-line output with members, or the beginning of one over many lines. */
const OPENING = /^\s*[[{]/;
const MIN_LINE_CHARACTERS = 500;
const MIN_SAVED_CHARACTERS = 400;

/** JSON of an API without the members that say nothing; `describe` tells how many are left out. */
export function cutJsonMembers(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  describe: (members: number) => string,
): readonly LineCut[] {
  const from = lines.findIndex((line, index) => isFree(index) && OPENING.test(line));
  if (from < 0) return [];
  let to = from;
  while (to + 1 < lines.length && isFree(to + 1)) to++;
  let members = 0;
  let saved = 0;
  const shown: string[] = [];
  for (const line of lines.slice(from, to + 1)) {
    const short = line.length >= MIN_LINE_CHARACTERS ? cut(line) : line;
    if (ONLY.test(line)) members++;
    else shown.push(short);
    saved += line.length - (ONLY.test(line) ? 0 : short.length);
  }
  if (saved < MIN_SAVED_CHARACTERS) return [];
  return [{ from, to, lines: [describe(members), ...shown] }];

  function cut(line: string): string {
    const leave = () => {
      members++;
      return "";
    };
    return line.replace(FIRST, leave).replace(LAST, leave);
  }
}
