import { checkFields } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import { type Message, requireParts } from "../../model/message.ts";
import type { ToolCallPart } from "../../model/part.ts";
import { listProgramCalls } from "../../model/tool-calls.ts";
import {
  buildLineRange,
  type CallArguments,
  getFolderArgument,
  getPathArgument,
  getRangeArgument,
  parseToolArguments,
} from "./call-arguments.ts";
import { isCovering, type LineRange } from "./line-range.ts";
import { normalizePath } from "./normalize-path.ts";
import type { Touch } from "./touch.ts";

/** Names of tools with a single effect on files, in the agents we know. */
const KINDS: ReadonlyMap<string, Touch["kind"]> = new Map(
  Object.entries({
    read: ["read", "read_file", "read_files", "readfile", "read_text_file", "view", "view_file", "open_file"],
    write: ["write", "write_to_file", "write_file", "create", "create_file", "new_file", "save_file"],
    edit: [
      ...["edit", "edit_file", "multiedit", "multi_edit", "notebookedit", "notebook_edit", "replace"],
      ...["replace_in_file", "apply_diff", "str_replace", "search_and_replace", "search_replace"],
      ...["insert", "insert_content", "insert_edit_into_file", "replace_string_in_file"],
    ],
  }).flatMap(([kind, names]) => names.map((name) => [name, kind as Touch["kind"]] as const)),
);

const EDITORS = ["str_replace_editor", "str_replace_based_edit_tool", "editor", "text_editor"];

/** Effects of the commands of an editor tool, which are passed as an argument. */
const EDITOR_KINDS: ReadonlyMap<string, Touch["kind"]> = new Map([
  ["view", "read"],
  ["create", "write"],
  ["str_replace", "edit"],
  ["insert", "edit"],
  ["undo_edit", "edit"],
]);

const SHELLS = [
  ...["bash", "shell", "local_shell", "local_shell_call", "shell_command", "exec", "exec_command"],
  ...["execute_command", "run_command", "run_commands", "run_shell_command", "run_in_terminal", "terminal"],
  ...["powershell", "container.exec", "execute_bash"],
];

/** Number of lines that SWE-agent's `open` shows. */
const OPENED_LINES = 100;

/** Cache: calls are immutable, and every pass asks about the same calls. */
const known = new WeakMap<ToolCallPart, readonly Touch[]>();

/** Longest command to parse, in characters; longer ones are scripts. */
const MAX_COMMAND_LENGTH = 2_000;

const QUIET = /^(?:2>\s*\/dev\/null|2>&1)(?=\s|$|[|;&])/;
const UNSURE = /[$`(){}*?<>&[\]#!\\]/;

/**
 * Splits a command into words if that takes no shell. Returns undefined for expansions, globs, redirections other than
 * silenced errors, `||`, and background jobs.
 */
function splitShellWords(command: string): Pipelines | undefined {
  const pipelines: string[][][] = [[[]]];
  let word: string | undefined;
  const words = () => pipelines.at(-1)?.at(-1) as string[];
  const endWord = () => {
    if (word !== undefined) words().push(word);
    word = undefined;
  };
  for (let at = 0; at < command.length; ) {
    const rest = command.slice(at, at + 40);
    const character = command.charAt(at);
    const quiet = word === undefined ? QUIET.exec(rest) : null;
    if (quiet) {
      at += quiet[0].length;
    } else if (character === "'" || character === '"') {
      const end = command.indexOf(character, at + 1);
      const quoted = command.slice(at + 1, end);
      if (end < 0 || (character === '"' && /[$`\\]/.test(quoted))) return undefined;
      word = (word ?? "") + quoted;
      at = end + 1;
    } else if (rest.startsWith("||")) {
      return undefined;
    } else if (rest.startsWith("&&") || character === ";" || character === "\n") {
      endWord();
      pipelines.push([[]]);
      at += character === "&" ? 2 : 1;
    } else if (character === "|") {
      endWord();
      pipelines.at(-1)?.push([]);
      at++;
    } else if (/\s/.test(character)) {
      endWord();
      at++;
    } else {
      if (UNSURE.test(character)) return undefined;
      word = (word ?? "") + character;
      at++;
    }
  }
  endWord();
  return pipelines.filter((pipeline) => pipeline.some((part) => part.length > 0));
}

const HEAD_LINES = 10;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["cat", (words) => parsePlainRead(words, /^-[nbsAetuv]+$/)],
  ["bat", (words) => parsePlainRead(words, /^(?:-[pn]+|--plain|--paging=never|--style=\w+)$/)],
  ["less", (words) => parsePlainRead(words, /^-[NRFX]+$/)],
  ["more", (words) => parsePlainRead(words, /^$/)],
  ["nl", (words) => parsePlainRead(dropArguments(words, /^-[bwsnv]$/), /^-[bwsnv]\S+$/)],
  ["type", (words) => parsePlainRead(words, /^$/)],
  ["get-content", (words) => parsePlainRead(words, /^-(?:raw|path|literalpath)$/i)],
  ["head", parseHead],
  ["tail", parseTail],
  ["sed", parseSed],
]);

/**
 * All file accesses and commands of a call, derived from its tool name and arguments; a call may read several files.
 */
export function findTouches(call: ToolCallPart): readonly Touch[] {
  const touches = known.get(call) ?? recognizeTouches(call);
  known.set(call, touches);
  return touches;
}

function recognizeTouches(call: ToolCallPart): readonly Touch[] {
  const name = call.name.toLowerCase().replace(/^mcp__.+__/, "");
  if (name === "apply_patch") return parsePatchTouches(getPatchText(call.input));
  const from = parseToolArguments(call.input);
  if (!from) return SHELLS.includes(name) && call.input ? parseShellCall({ command: call.input }) : [];
  if (SHELLS.includes(name)) return parseShellCall(from);
  const kind = EDITORS.includes(name) ? EDITOR_KINDS.get(String(from.command)) : KINDS.get(name);
  const path = getPathArgument(from);
  if (kind && path !== undefined) return [buildTouch(kind, path, from)];
  const files = kind ? listCallFiles(from) : [];
  if (kind && files.length > 0) {
    return files.map((file) => ({ ...file, kind, path: normalizePath(file.path) }));
  }
  return typeof from.command === "string" ? parseActionTouches(name, from.command) : [];
}

function buildTouch(kind: Touch["kind"], path: string, from: CallArguments): Touch {
  const range = kind === "read" ? getRangeArgument(from) : undefined;
  return { kind, path: normalizePath(path, getFolderArgument(from)), ...dropUndefined({ range }) };
}

function parseShellCall(from: CallArguments): readonly Touch[] {
  const command = from.command ?? from.cmd ?? parseToolArguments(from.action)?.command;
  const folder = getFolderArgument(from);
  const home = folder === undefined ? undefined : normalizePath(folder);
  if (typeof command === "string") return parseShellCommand(command, home);
  if (!Array.isArray(command)) return [];
  const words = (command as readonly Json[]).map(String);
  const isShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0] ?? "") && /^-l?c$/.test(words[1] ?? "");
  if (isShell && words.length === 3) return parseShellCommand(words[2] as string, home);
  if (words[0] === "apply_patch") return parsePatchTouches(words[1] ?? "", home);
  return parseCommandTouches(words.map(quoteWord).join(" "), home);
}

/** Codex also applies patches through its shell. */
function parseShellCommand(command: string, folder: string | undefined): readonly Touch[] {
  const isPatch = /^\s*apply_patch\b/.test(command) && command.includes("*** Begin Patch");
  return isPatch ? parsePatchTouches(command, folder) : parseCommandTouches(command, folder);
}

/** SWE-agent passes the command line as an argument; its first word is the tool. */
function parseActionTouches(name: string, command: string): readonly Touch[] {
  const [word, path, line] = command.trim().split(/\s+/);
  if (word?.toLowerCase() !== name) return [];
  if (name === "edit") return [{ kind: "edit" }];
  // Unlike other tools, it never replaces a file: it shows one that exists, and reports that as plain text.
  if (name === "create" && path !== undefined) return [{ kind: "edit", path: normalizePath(path) }];
  if (name === "open" && path !== undefined) {
    const from = Math.max(1, Number(line ?? 1) || 1);
    return [{ kind: "read", path: normalizePath(path), range: { from, to: from + OPENED_LINES - 1 } }];
  }
  return parseCommandTouches(command);
}

function getPatchText(input: Json): string {
  const from = parseToolArguments(input);
  const text = from ? (from.patchText ?? from.patch ?? from.input) : input;
  return typeof text === "string" ? text : "";
}

function quoteWord(word: string): string {
  return /^[\w./=:,@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The files that a patch in the `*** Begin Patch` format adds, changes or deletes. */
function parsePatchTouches(patch: string, folder?: string): readonly Touch[] {
  const files = patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm);
  return [...files].map(
    ([, action, path, target]): Touch => ({
      kind: action === "Add" ? "write" : "edit",
      path: normalizePath(path ?? target ?? "", folder),
    }),
  );
}

/** One file of a call that names several. */
interface ListedFile {
  readonly path: string;
  readonly range?: LineRange;
}

/**
 * The files of a call that names several (`files: […]`, `paths: […]`, `args: { file: … }`), each with its own ranges.
 */
function listCallFiles(from: CallArguments): readonly ListedFile[] {
  const lists = [from.files, from.paths, parseToolArguments(from.args)?.file];
  const listed = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : (list ?? [])));
  return listed.flatMap((file): readonly ListedFile[] => {
    if (typeof file === "string") return file === "" || file.startsWith("{") ? [] : [{ path: file }];
    const fields = parseToolArguments(file as Json);
    const path = fields && getPathArgument(fields);
    if (!fields || path === undefined) return [];
    const ranges = listRanges(fields);
    return ranges.length === 0 ? [{ path }] : ranges.map((range) => ({ path, range }));
  });
}

function listRanges(file: CallArguments): readonly LineRange[] {
  const lists = [file.line_ranges, file.lineRanges, file.line_range];
  const values = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : (list ?? [])));
  const pairs = values.flatMap((value): readonly (LineRange | undefined)[] => {
    if (typeof value === "string") {
      const lines = /^(\d+)-(\d+)$/.exec(value);
      return lines ? [{ from: Number(lines[1]), to: Number(lines[2]) }] : [];
    }
    const fields = parseToolArguments(value as Json);
    return fields ? [buildLineRange(fields.start, fields.end)] : [];
  });
  const single = getRangeArgument(file);
  return [...pairs, single].filter((range) => range !== undefined);
}

/** The effects of a shell command: the files it read or wrote if it did nothing else, otherwise a "run" touch. */
export function parseCommandTouches(command: string, folder?: string): readonly Touch[] {
  return (
    parseWrite(command, folder) ??
    parseReads(command, folder) ?? [{ kind: "run", command, ...dropUndefined({ folder }) }]
  );
}

/** Recognizes a command that only writes a file with a here-document. */
function parseWrite(command: string, folder?: string): readonly Touch[] | undefined {
  const start = /^\s*cat\s*>\s*([\w./~@+-]+)\s*<<-?\s*(['"]?)(\w+)\2[ \t]*\n/.exec(command);
  const [, path, , mark] = start ?? [];
  if (!start || path === undefined || mark === undefined) return undefined;
  const end = command.indexOf(`\n${mark}`, start[0].length - 1);
  const isAll = end >= 0 && command.slice(end + 1 + mark.length).trim() === "";
  return isAll ? [{ kind: "write", path: normalizePath(path, folder) }] : undefined;
}

function parseReads(command: string, startFolder?: string): readonly Touch[] | undefined {
  if (command.length > MAX_COMMAND_LENGTH) return undefined;
  const touches: Touch[] = [];
  let folder = startFolder;
  for (const pipeline of splitShellWords(command) ?? []) {
    const [first] = pipeline;
    if (first?.[0] === "cd" && first.length === 2 && pipeline.length === 1 && touches.length === 0) {
      folder = normalizePath(first[1] as string, folder);
      continue;
    }
    const reading = mergePipedReads(pipeline);
    if (!reading) return undefined;
    for (const name of reading.paths) {
      const read = { kind: "read", path: normalizePath(name, folder) } as const;
      touches.push(...(reading.ranges?.map((range) => ({ ...read, range })) ?? [read]));
    }
  }
  return touches.length > 0 ? touches : undefined;
}

/** Handles `cat f | head -n 20`: one command names the files, and at most one selects lines. */
function mergePipedReads(pipeline: readonly (readonly string[])[]): ShellRead | undefined {
  const [first, ...others] = pipeline.map(parseShellRead);
  if (!first || first.paths.length === 0) return undefined;
  if (others.length > 0 && first.paths.length > 1) return undefined;
  let { ranges } = first;
  for (const other of others) {
    if (!other || other.paths.length > 0 || (ranges && other.ranges)) return undefined;
    ranges ??= other.ranges;
  }
  return ranges ? { paths: first.paths, ranges } : { paths: first.paths };
}

/** A parsed shell command: pipelines that run one after another, each a list of commands, each a list of words. */
type Pipelines = readonly (readonly (readonly string[])[])[];

/** The files and lines that a reading command shows. Without paths, it reads its piped input. */
interface ShellRead {
  readonly paths: readonly string[];
  readonly ranges?: readonly LineRange[];
}

type Reader = (words: readonly string[]) => ShellRead | undefined;

/** The files that a single command reads; undefined if it does anything else or its effect is uncertain. */
function parseShellRead([name, ...words]: readonly string[]): ShellRead | undefined {
  return READERS.get((name ?? "").toLowerCase())?.(words);
}

/** Reads file names after options that do not affect which lines are shown. */
function parsePlainRead(words: readonly string[], allowed: RegExp): ShellRead | undefined {
  const options = words.filter((word) => word.startsWith("-") && word !== "--");
  if (!options.every((option) => allowed.test(option))) return undefined;
  return { paths: words.filter((word) => !word.startsWith("-")) };
}

function dropArguments(words: readonly string[], taking: RegExp): readonly string[] {
  return words.filter((word, index) => !taking.test(word) && !taking.test(words[index - 1] ?? ""));
}

function parseHead(words: readonly string[]): ShellRead | undefined {
  const counted = parseLineCount(words);
  if (counted?.sign !== "") return undefined;
  return { paths: counted.paths, ranges: [{ from: 1, to: counted.count }] };
}

function parseTail(words: readonly string[]): ShellRead | undefined {
  const counted = parseLineCount(words);
  if (!counted || counted.sign === "-") return undefined;
  const { count, paths, sign } = counted;
  const range =
    sign === "+" ? { from: Math.max(1, count), to: Number.POSITIVE_INFINITY } : { from: -count, to: -1 };
  return { paths, ranges: [range] };
}

interface LineCount {
  readonly sign: string;
  readonly count: number;
  readonly paths: readonly string[];
}

/** Parses `-n 20`, `-n20`, `-20` and `--lines=20`, or no count at all. */
function parseLineCount(words: readonly string[]): LineCount | undefined {
  const isApart = words[0] === "-n" || words[0] === "--lines";
  const given = isApart ? words[1] : /^(?:-n|--lines=|-)([+-]?\d+)$/.exec(words[0] ?? "")?.[1];
  const paths = words.slice(isApart ? 2 : given === undefined ? 0 : 1).filter((word) => word !== "--");
  const count = /^([+-]?)(\d+)$/.exec(given ?? `${HEAD_LINES}`);
  if (!count || paths.some((path) => path.startsWith("-"))) return undefined;
  return { sign: count[1] as string, count: Number(count[2]), paths };
}

/** Understands `sed -n '10,20p' file`, with one or more ranges, and no other sed script. */
function parseSed([option, script, ...paths]: readonly string[]): ShellRead | undefined {
  if (option !== "-n" || paths.some((path) => path.startsWith("-"))) return undefined;
  const stretches = (script ?? "").replace(/;$/, "").split(";");
  const ranges = stretches.flatMap((stretch) => {
    const lines = /^\s*(\d+)(?:,\s*(\d+|\$))?p\s*$/.exec(stretch);
    const from = Number(lines?.[1]);
    const to = lines?.[2] === "$" ? Number.POSITIVE_INFINITY : Number(lines?.[2] ?? from);
    return lines && from <= to ? [{ from, to }] : [];
  });
  return ranges.length === stretches.length ? { paths, ranges } : undefined;
}

/** Counts reads of files that the agent had read before and not changed since; those of the provider's programs are not its own. */
export class RereadCounter {
  readonly #ranges = new Map<string, (LineRange | undefined)[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  observe(message: Message): void {
    checkFields("message", message, { parts: "array" });
    const program = listProgramCalls(message);
    for (const part of requireParts(message)) {
      if (part.type !== "tool-call") continue;
      const isSeen = !program.includes(part.callId);
      for (const { kind, path, range } of findTouches(part)) {
        if (path === undefined || kind === "run") continue;
        const known = this.#ranges.get(path) ?? [];
        if (kind !== "read") this.#ranges.delete(path);
        else if (!isSeen) continue;
        else if (known.some((one) => isCovering(one, range))) this.#count++;
        else this.#ranges.set(path, [...known, range]);
      }
    }
  }
}
