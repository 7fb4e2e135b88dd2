/** A line with its number, in the ways that agents print it: `12→`, `12\t`, `12: `, `00012| `. */
const NUMBERED = /^ *0*(\d+)(?:→|\t|: ?|\| ?)(.*)$/;
const MIN_NUMBERED_SHARE = 0.8;
/** Text before and after the lines of a file in the output of a tool. */
const HEADERS =
  /^(?:[\s\S]{0,400}?\nOutput:\n|<path>[^\n]*\n<type>[^\n]*\n<content>|<file>\n|\[File: [^\n]*\n)/;
const FOOTER = /\n*(?:<\/content>|<\/file>|<system-reminder>|\(Open file: |\(End of file)[\s\S]*$/;

/** The lines of a file that the output of a tool shows, by number from 1; `from` is the first if they are not numbered. */
export function parseShownLines(output: string, from: number): Map<number, string> {
  const lines = output.replace(HEADERS, "").replace(FOOTER, "").split("\n");
  const numbered = lines.map((line) => NUMBERED.exec(line));
  const filled = lines.filter((line) => line.trim() !== "").length;
  const isNumbered = numbered.filter((match) => match !== null).length >= MIN_NUMBERED_SHARE * filled;
  if (!isNumbered) return new Map(lines.map((line, index) => [from + index, line]));
  return new Map(numbered.flatMap((match) => (match ? [[Number(match[1]), match[2] ?? ""] as const] : [])));
}
