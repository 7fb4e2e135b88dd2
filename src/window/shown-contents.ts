import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Part, ToolCallPart } from "../model/part.ts";
import { listProgramCalls } from "../model/tool-calls.ts";
import {
  getContentsName,
  getPathArgument,
  getRangeArgument,
  parseToolArguments,
} from "./effects/call-arguments.ts";
import { findTouches } from "./effects/find-touches.ts";
import type { LineRange } from "./effects/line-range.ts";
import { normalizePath } from "./effects/normalize-path.ts";
import type { PlacedResult } from "./placed-result.ts";
import type { Slot } from "./slot.ts";
import { hasStub, isStubbed } from "./stub.ts";

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

/** File contents shown in a window: as a tool result, inside a text, or in the arguments of the call that wrote them. */
export interface ShownContents {
  readonly slot: number;
  readonly part: number;
  readonly path: string;
  readonly range?: LineRange;
  /**
   * Position in the text; for a tool result, `output` is the index of that text. Absent if the whole result is shown.
   */
  readonly block?: { readonly from: number; readonly to: number; readonly output?: number };
}

/** Messages that tools return instead of contents: failures, refusals, notices that the contents are elsewhere. */
const NOT_CONTENTS =
  /error|not found|no such file|cannot|failed|denied|reject|unchanged since|removed to save|does(?:n't| not) /i;
const MAX_NOTICE_LENGTH = 600;

/** The file contents shown in a window, in order. Stubbed and failed results show nothing. */
export function findShownContents(
  slots: readonly Slot[],
  answers: readonly PlacedResult[],
): readonly ShownContents[] {
  const showings: ShownContents[] = [];
  const written = new Set(
    answers.flatMap(({ result, placedCall: to }) =>
      to && !result.isError && !result.output.some((part) => part.type === "text" && isNotice(part.text))
        ? [to.call]
        : [],
    ),
  );
  // The model sees neither the calls of a program of the provider nor their results.
  const program = new Set(slots.flatMap(({ message }) => listProgramCalls(message)));
  let next = 0;
  for (const [slot, { message, isNote }] of slots.entries()) {
    for (const [part, content] of message.parts.entries()) {
      if ("callId" in content && program.has(content.callId ?? "")) {
        if (content.type === "tool-result") next++;
      } else if (content.type === "tool-result") {
        // Answers are in the order of their results in the window.
        const answer = answers[next++];
        if (answer && !isNote) for (const shown of findInResult(answer)) showings.push(shown);
      } else if (content.type === "tool-call") {
        const path = !isNote && written.has(content) ? findWrittenPath(content) : undefined;
        if (path !== undefined) showings.push({ slot, part, path });
      } else if (content.type === "text" && message.role === "user" && !isNote) {
        for (const shown of findInText(content, message.parts[part - 1]))
          showings.push({ ...shown, slot, part });
      }
    }
  }
  return showings;
}

/** True if a tool's output looks like the requested contents, not a stub or an error message. */
function isContents(parts: readonly Part[]): boolean {
  if (parts.length === 0 || isStubbed(parts)) return false;
  const [first] = parts;
  if (parts.length > 1 || first?.type !== "text") return true;
  return first.text !== "" && !isNotice(first.text);
}

function isNotice(text: string): boolean {
  return text.length <= MAX_NOTICE_LENGTH && NOT_CONTENTS.test(text);
}

function findInResult({ slot, part, result, placedCall: to }: PlacedResult): readonly ShownContents[] {
  if (result.isError || !isContents(result.output)) return [];
  const touches = to?.call.type === "tool-call" ? findTouches(to.call) : [];
  const reads = touches.filter(({ kind }) => kind === "read");
  if (reads.length > 0 && reads.length === touches.length) {
    return reads.flatMap(({ path, range }) =>
      path === undefined ? [] : [{ slot, part, path, ...dropUndefined({ range }) }],
    );
  }
  return result.output.flatMap((content, output): readonly ShownContents[] => {
    if (content.type === "text")
      return findBlocks(content.text).map((shown) => ({
        ...shown,
        slot,
        part,
        block: { ...shown.block, output },
      }));
    // A long text is stored apart; its preview shows the beginning and the end, so that it is stubbed as a whole.
    if (content.type !== "blob" || content.of !== "text" || result.output.length > 1) return [];
    return findShownFiles(content.preview ?? "").map(({ path }) => ({ slot, part, path }));
  });
}

/** The file that a call writes, if the call itself holds all its contents. */
function findWrittenPath(call: ToolCallPart): string | undefined {
  const [touch, ...others] = findTouches(call);
  if (touch?.kind !== "write" || others.length > 0) return undefined;
  const from = parseToolArguments(call.input);
  const name = from && getContentsName(from);
  return name === undefined || hasStub(String(from?.[name])) ? undefined : touch.path;
}

function findInText(
  { text }: { readonly text: string },
  before: Part | undefined,
): readonly Required<Pick<ShownContents, "path" | "block">>[] {
  const announcement = before?.type === "text" ? before.text : undefined;
  const path = announcement === undefined ? undefined : parseAnnouncedPath(announcement);
  if (path === undefined) return findBlocks(text, announcement);
  return hasStub(text) || isNotice(text) ? [] : [{ path, block: { from: 0, to: text.length } }];
}

/**
 * Older versions of Cline and Roo send results as text: a line that names the call, then the contents as a separate
 * text.
 */
function parseAnnouncedPath(text: string): string | undefined {
  return /^\[read_file for '([^'\n]{1,1000})'[^\]\n]{0,200}\] Result:\s*$/.exec(text)?.[1];
}

function findBlocks(text: string, before?: string) {
  return findShownFiles(text, before).flatMap(({ path, range, shown }) => {
    const contents = text.slice(shown.from, shown.to);
    const isEmpty = contents === "" || hasStub(contents) || isNotice(contents);
    return isEmpty ? [] : [{ path, ...dropUndefined({ range }), block: shown }];
  });
}

/**
 * The files whose contents a text holds: in `<file_content path="…">` blocks, which clients insert for file mentions
 * (`@path`), under the headings of `read_many_files`, and in the reminders in which Claude Code puts mentioned files.
 * `before` is the text before it in the same message, which may announce the file.
 */
export function findShownFiles(text: string, before = ""): readonly ShownFile[] {
  return [
    ...(text.includes("file_content path=") ? findTaggedFiles(text) : []),
    ...(text.startsWith("--- ") || text.includes(`--- ${END} ---`) ? findUnderHeadings(text) : []),
    ...findReminded(text, before),
  ];
}

function findTaggedFiles(text: string): readonly ShownFile[] {
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
    shown.push({ path: normalizePath(path), ...dropUndefined({ range }), shown: { from, to } });
  };
  if (before.endsWith(RESULT_END)) add([...before.matchAll(ANNOUNCED)].at(-1)?.[1], 0);
  if (text.includes("Called the Read tool with"))
    for (const match of text.matchAll(ANNOUNCED)) add(match[1], match.index + match[0].length);
  return shown;
}
