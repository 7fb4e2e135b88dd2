import type { Json, ToolCallPart } from "../../kernel/index.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** The deed of a tool, whatever its agent calls it. */
type Deed = "shell" | "read" | "write" | "edit" | "search" | "find" | "list" | "fetch";

/** Values of a call by their meaning. */
type Meaning = "command" | "path" | "offset" | "limit" | "content" | "old" | "new" | "pattern" | "url";

/** Names that agents give to tools, in lower case and without separators. */
const NAMES: Readonly<Record<Deed, string>> = {
  shell:
    "bash shell execcommand shellcommand localshell runshellcommand executecommand runterminalcmd runinterminal terminal developershell",
  read: "read readfile viewfile view cat fsread",
  write: "write writefile writetofile createfile create fswrite",
  edit: "edit editfile replace strreplace multiedit",
  search: "grep searchfilecontent grepsearch searchfiles ripgrep",
  find: "glob find findfiles",
  list: "ls list listfiles listdirectory listdir",
  fetch: "webfetch fetch",
};

/** The values without which a call of a deed is told in words, such as a read of several files. */
const SUBJECTS: Readonly<Record<Deed, readonly Meaning[]>> = {
  shell: ["command"],
  read: ["path"],
  write: ["path", "content"],
  edit: ["path", "old", "new"],
  search: ["pattern"],
  find: ["pattern"],
  list: ["path"],
  fetch: ["url"],
};

/** Names that agents give to the fields of a call. */
const FIELDS: Readonly<Record<Meaning, readonly string[]>> = {
  command: ["command", "cmd"],
  path: ["file_path", "filePath", "path", "absolute_path", "target_file", "dir_path", "directory"],
  offset: ["offset", "start_line", "startLine"],
  limit: ["limit"],
  content: ["content", "contents", "file_text"],
  old: ["old_string", "oldString", "oldText", "old_str"],
  new: ["new_string", "newString", "newText", "new_str"],
  pattern: ["pattern", "regex", "query"],
  url: ["url"],
};

/** Agents that a conversation can be continued in. */
export type ContinuedAgent = "claude-code" | "codex" | "opencode" | "gemini-cli" | "pi" | "cline";

/** A tool of an agent: its name, and the fields that take the values. */
interface Counterpart {
  readonly name: string;
  readonly fields: Partial<Readonly<Record<Meaning, string>>>;
}

/** The tools of each agent; a deed without one is told in words. */
const TOOLS: Readonly<Record<ContinuedAgent, Partial<Readonly<Record<Deed, Counterpart>>>>> = {
  "claude-code": {
    shell: { name: "Bash", fields: { command: "command" } },
    read: { name: "Read", fields: { path: "file_path", offset: "offset", limit: "limit" } },
    write: { name: "Write", fields: { path: "file_path", content: "content" } },
    edit: { name: "Edit", fields: { path: "file_path", old: "old_string", new: "new_string" } },
    search: { name: "Grep", fields: { pattern: "pattern", path: "path" } },
    find: { name: "Glob", fields: { pattern: "pattern", path: "path" } },
    fetch: { name: "WebFetch", fields: { url: "url" } },
  },
  codex: { shell: { name: "exec_command", fields: { command: "cmd" } } },
  opencode: {
    shell: { name: "bash", fields: { command: "command" } },
    read: { name: "read", fields: { path: "filePath", offset: "offset", limit: "limit" } },
    write: { name: "write", fields: { path: "filePath", content: "content" } },
    edit: { name: "edit", fields: { path: "filePath", old: "oldString", new: "newString" } },
    search: { name: "grep", fields: { pattern: "pattern", path: "path" } },
    find: { name: "glob", fields: { pattern: "pattern", path: "path" } },
    fetch: { name: "webfetch", fields: { url: "url" } },
  },
  "gemini-cli": {
    shell: { name: "run_shell_command", fields: { command: "command" } },
    read: { name: "read_file", fields: { path: "file_path", offset: "start_line", limit: "limit" } },
    write: { name: "write_file", fields: { path: "file_path", content: "content" } },
    edit: { name: "replace", fields: { path: "file_path", old: "old_string", new: "new_string" } },
    search: { name: "grep_search", fields: { pattern: "pattern", path: "dir_path" } },
    find: { name: "glob", fields: { pattern: "pattern", path: "dir_path" } },
    list: { name: "list_directory", fields: { path: "dir_path" } },
  },
  pi: {
    shell: { name: "bash", fields: { command: "command" } },
    read: { name: "read", fields: { path: "path", offset: "offset", limit: "limit" } },
    write: { name: "write", fields: { path: "path", content: "content" } },
    edit: { name: "edit", fields: { path: "path", old: "oldText", new: "newText" } },
    search: { name: "grep", fields: { pattern: "pattern", path: "path" } },
    find: { name: "find", fields: { pattern: "pattern", path: "path" } },
    list: { name: "ls", fields: { path: "path" } },
  },
  cline: {
    shell: { name: "execute_command", fields: { command: "command" } },
    read: { name: "read_file", fields: { path: "path" } },
    write: { name: "write_to_file", fields: { path: "path", content: "content" } },
    search: { name: "search_files", fields: { pattern: "regex", path: "path" } },
    list: { name: "list_files", fields: { path: "path" } },
  },
};

/** Agents that a conversation of any origin can be continued in. */
export const CONTINUED_AGENTS = Object.keys(TOOLS) as readonly ContinuedAgent[];

const DEEDS = new Map(
  Object.entries(NAMES).flatMap(([deed, names]) =>
    names.split(" ").map((name) => [name, deed as Deed] as const),
  ),
);

/** Converts a call to the tool of another agent that does the same; undefined if it has none. Other fields stay. */
export function convertToolCall(call: ToolCallPart, agent: ContinuedAgent): ToolCallPart | undefined {
  const input = toObject(call.input);
  const deed = DEEDS.get(call.name.toLowerCase().replace(/[^a-z]/g, ""));
  const tool = deed && TOOLS[agent][deed];
  if (!input || !tool) return undefined;
  const fields: [string, Json][] = [];
  const taken = new Set<string>();
  for (const [meaning, names] of Object.entries(FIELDS)) {
    const own = names.find((name) => input[name] !== undefined);
    const field = tool.fields[meaning as Meaning];
    if (own === undefined || field === undefined) continue;
    taken.add(own);
    fields.push([field, meaning === "command" ? joinCommand(input[own]) : (input[own] as Json)]);
  }
  const isTold = (meaning: Meaning) =>
    !fields.some(([field, value]) => field === tool.fields[meaning] && typeof value === "string");
  if (SUBJECTS[deed].some(isTold)) return undefined;
  const rest = Object.entries(input as JsonObject).filter(
    ([name]) => !taken.has(name) && !fields.some(([field]) => field === name),
  );
  const converted = Object.fromEntries([...fields, ...(rest as [string, Json][])]);
  return { ...call, name: tool.name, input: converted };
}

/** Codex names a program and its arguments; `bash -lc` precedes a whole command line. */
function joinCommand(value: unknown): Json {
  const words = toArray(value).filter((word) => typeof word === "string");
  if (words.length === 0) return value as Json;
  const isShell = words.length === 3 && /^(?:\/bin\/)?(?:ba|z|)sh$/.test(words[0] ?? "");
  return isShell && /^-l?c$/.test(words[1] ?? "") ? (toText(words[2]) ?? "") : words.join(" ");
}
