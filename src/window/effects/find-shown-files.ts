import { getPathArgument, getRangeArgument, parseToolArguments } from "./call-arguments.ts";
import type { LineRange } from "./line-range.ts";
import { normalizePath } from "./normalize-path.ts";

/** A file whose contents appear in a text, and their position there. */
interface ShownFile {
  readonly path: string;
  readonly range?: LineRange;
  readonly shown: { readonly from: number; readonly to: number };
}

const BLOCK = /<((?:final_)?file_content) path="([^"\n]{1,1000})"[^>\n]{0,200}>/g;
/** A heading of `read_many_files` (Gemini CLI, Qwen Code) above a file, or the line at the end of all of them. */
const HEADING = /^--- ([^\n]{1,1000}) ---$/gm;
const END = "End of content";
/** A file that Claude Code was told to read by `@path`: the announced call, then its result. */
const ANNOUNCED = /Called the Read tool with the following input: (\{[^\n]{1,2000}\})\s*<\/system-reminder>/g;
const RESULT = /^\s*<system-reminder>\s*Result of calling the Read tool: /;
const RESULT_END = "</system-reminder>";

/**
 * The files whose contents a text holds: in `<file_content path="…">` blocks, which clients insert for file mentions
 * (`@path`), under the headings of `read_many_files`, and in the reminders in which Claude Code puts mentioned files.
 * `before` is the text before it in the same message, which may announce the file.
 */
export function findShownFiles(text: string, before = ""): readonly ShownFile[] {
  return [
    ...(text.includes("file_content path=") ? findBlocks(text) : []),
    ...(text.startsWith("--- ") || text.includes(`--- ${END} ---`) ? findUnderHeadings(text) : []),
    ...findReminded(text, before),
  ];
}

function findBlocks(text: string): readonly ShownFile[] {
  const shown: ShownFile[] = [];
  let end = 0;
  for (const match of text.matchAll(BLOCK)) {
    const from = match.index + match[0].length;
    const to = match.index < end ? -1 : text.indexOf(`</${match[1]}>`, from);
    if (to < 0) continue;
    shown.push({ path: normalizePath(match[2] as string), shown: { from, to } });
    end = to;
  }
  return shown;
}

function findUnderHeadings(text: string): readonly ShownFile[] {
  const headings = [...text.matchAll(HEADING)];
  return headings.flatMap(({ 0: heading, 1: path = "", index }, at): readonly ShownFile[] => {
    if (path === END || !/[./\\]/.test(path)) return [];
    const shown = { from: index + heading.length, to: headings[at + 1]?.index ?? text.length };
    return [{ path: normalizePath(path), shown }];
  });
}

function findReminded(text: string, before: string): readonly ShownFile[] {
  const shown: ShownFile[] = [];
  const add = (announced: string | undefined, after: number) => {
    const result = RESULT.exec(text.slice(after, after + 200));
    const input = announced === undefined ? undefined : parseToolArguments(announced);
    const path = input && getPathArgument(input);
    if (!result || !input || path === undefined) return;
    const from = after + result[0].length;
    const to = text.indexOf(RESULT_END, from);
    if (to < 0) return;
    const range = getRangeArgument(input);
    shown.push({ path: normalizePath(path), ...(range && { range }), shown: { from, to } });
  };
  if (before.endsWith(RESULT_END)) add([...before.matchAll(ANNOUNCED)].at(-1)?.[1], 0);
  if (text.includes("Called the Read tool with"))
    for (const match of text.matchAll(ANNOUNCED)) add(match[1], match.index + match[0].length);
  return shown;
}
