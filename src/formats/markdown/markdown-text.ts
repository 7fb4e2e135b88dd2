/** Makes foreign Markdown safe to embed: no headings, no HTML, no open blocks. */
export function sanitizeMarkdown(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const safe = escapeOutsideFences(lines);
  // A quote closes everything that is open inside it.
  return safe ? safe.join("\n") : formatQuote(text);
}

/** Formats foreign text as a quote. */
export function formatQuote(text: string): string {
  const escaped = createHtmlEscape();
  return text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => `> ${escaped(escapeHeading(line))}`.trimEnd())
    .join("\n");
}

/** Formats text as a code block with a fence longer than any inside. */
export function formatCodeBlock(text: string, language = ""): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(runs.reduce((most, run) => Math.max(most, run.length), 2) + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Formats text on one line with all Markdown escaped. */
export function escapeInline(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, "\\$&");
}

/** Escapes text for HTML. */
export function escapeMarkdownHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** An open fence. */
interface Fence {
  readonly indent: number;
  readonly mark: string;
}

/**
 * Escapes text outside code blocks; undefined if the end of a block is ambiguous. A block ends clearly if its last line
 * is indented like its first, and no line between is indented less.
 */
function escapeOutsideFences(lines: readonly string[]): readonly string[] | undefined {
  const safe: string[] = [];
  const escaped = createHtmlEscape();
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
      // After a list or quote marker, or with backticks in the info string, the block is ambiguous.
      if (mark[1] !== "" || mark[3]?.includes("`")) return undefined;
      fence = { indent, mark: mark[2] as string };
      safe.push(line);
    } else safe.push(escaped(escapeHeading(line, lines[index - 1])));
  }
  return fence ? undefined : safe;
}

/** Escapes headings, which would break the outline, including underlines below text. */
function escapeHeading(line: string, before = ""): string {
  if (/^\s*#{1,6}(\s|$)/.test(line)) return line.replace("#", "\\#");
  if (/^\s*(=+|-+)\s*$/.test(line) && before.trim() !== "") return line.replace(/[=-]/, "\\$&");
  return line;
}

/**
 * Creates a function that escapes tags line by line. Code spans stay unchanged as long as they are unambiguous: the
 * paragraph has only pairs of single backticks.
 */
function createHtmlEscape(): (line: string) => string {
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
