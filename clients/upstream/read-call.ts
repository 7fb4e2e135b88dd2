import { join } from "node:path";
import type { OfferedTool } from "./asked.ts";

/** The call with which a client reads a file. */
export interface ReadCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const READERS = /^(?:read|read_?files?|view|view_file|builtin_read_file)$/i;
const SHELLS =
  /^(?:shell|shell_command|exec_command|bash|run_commands?|run_terminal_command|execute_command)$/i;
const PATHS = ["file_path", "filePath", "filepath", "path", "absolutePath", "file"] as const;

/** Selects the client's way to read a file: a read tool, else a shell. */
export function readCall(tools: readonly OfferedTool[], project: string, file: string): ReadCall | undefined {
  const reader = tools.find(({ name }) => READERS.test(name));
  if (reader) return { name: reader.name, input: readerInput(reader, join(project, file)) };
  const shell = tools.find(({ name }) => SHELLS.test(name));
  return shell && { name: shell.name, input: shellInput(shell, `cat ${file}`) };
}

function readerInput({ parameters }: OfferedTool, path: string): ReadCall["input"] {
  const single = PATHS.find((name) => name in parameters);
  if (single !== undefined) return { [single]: path };
  return "files" in parameters ? { files: [{ path }] } : { paths: [path] };
}

function shellInput({ parameters }: OfferedTool, command: string): ReadCall["input"] {
  if ("cmd" in parameters) return { cmd: command };
  if ("commands" in parameters) return { commands: [command] };
  const { type } = (parameters.command ?? {}) as { readonly type?: unknown };
  return { command: type === "array" ? ["bash", "-lc", command] : command };
}
