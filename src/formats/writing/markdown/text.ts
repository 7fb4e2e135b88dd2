/** Foreign text as Markdown that stays Markdown but cannot break out: no headings, no HTML, nothing left open. */
export function contained(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const safe = escapeOutsideFences(lines);
  // In a quote whatever is open ends with the quote.
  return safe ? safe.join("\n") : quoted(text);
}

/** Foreign text as a quote. */
export function quoted(text: string): string {
  const escaped = makeHtmlEscape();
  return text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => `> ${escaped(escapeHeading(line))}`.trimEnd())
    .join("\n");
}

/** Text as a code block whose fence is longer than any in it. */
export function fenced(text: string, language = ""): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(runs.reduce((most, run) => Math.max(most, run.length), 2) + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Text on one line, with everything in it meaning itself. */
export function inline(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, "\\$&");
}

/** Text for HTML. */
export function html(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** A fence that is open: how it began. */
interface Fence {
  readonly indent: number;
  readonly mark: string;
}

/**
 * Escapes what stands outside code blocks; undefined if it is not clear where those end. A block ends clearly if its last
 * line is indented like its first, and none between them less.
 */
function escapeOutsideFences(lines: readonly string[]): readonly string[] | undefined {
  const safe: string[] = [];
  const escaped = makeHtmlEscape();
  let fence: Fence | undefined;
  for (const [index, line] of lines.entries()) {
    const indent = line.length - line.trimStart().length;
    const mark = /^\s*((?:(?:[-*+>]|\d+[.)])\s*)*)(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence) {
      if (line.trim() !== "" && indent < fence.indent) return undefined;
      const closes = mark?.[1] === "" && mark[2]?.startsWith(fence.mark) && mark[3]?.trim() === "";
      if (closes && indent !== fence.indent) return undefined;
      if (closes) fence = undefined;
      safe.push(line);
    } else if (mark) {
      // Behind the mark of a list or a quote, or with a fence inside its words, it is anybody's guess.
      if (mark[1] !== "" || mark[3]?.includes("`")) return undefined;
      fence = { indent, mark: mark[2] as string };
      safe.push(line);
    } else safe.push(escaped(escapeHeading(line, lines[index - 1])));
  }
  return fence ? undefined : safe;
}

/** A heading would break the outline; so would a line of dashes below words. */
function escapeHeading(line: string, before = ""): string {
  if (/^\s*#{1,6}(\s|$)/.test(line)) return line.replace("#", "\\#");
  if (/^\s*(=+|-+)\s*$/.test(line) && before.trim() !== "") return line.replace(/[=-]/, "\\$&");
  return line;
}

/**
 * Makes tags mean themselves, line after line. In code spans they do already, and stay as they are where it is clear what
 * is a span: while a paragraph has nothing but pairs of single backticks.
 */
function makeHtmlEscape(): (line: string) => string {
  let isClear = true;
  return (line) => {
    if (line.trim() === "") isClear = true;
    const runs = line.match(/`+/g) ?? [];
    isClear &&= runs.length % 2 === 0 && runs.every((run) => run === "`") && !line.includes("\\`");
    const pieces = isClear ? line.split(/(`[^`]*`)/) : [line];
    return pieces
      .map((piece, index) => (index % 2 === 1 ? piece : piece.replace(/<(?=[A-Za-z/!?])/g, "&lt;")))
      .join("");
  };
}
