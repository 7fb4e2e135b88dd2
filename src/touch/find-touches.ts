import type { Json } from "../model/json.ts";
import type { ToolCallPart } from "../model/part.ts";
import {
  type CallArguments,
  getFolderArgument,
  getPathArgument,
  getRangeArgument,
  parseToolArguments,
} from "./call-arguments.ts";
import { listCallFiles } from "./list-call-files.ts";
import { normalizePath } from "./normalize-path.ts";
import { parseCommandTouches } from "./parse-command-touches.ts";
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
  return { kind, path: normalizePath(path, getFolderArgument(from)), ...(range && { range }) };
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
