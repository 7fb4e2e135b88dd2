import { normalizePath } from "./normalize-path.ts";
import { parseShellRead, type ShellRead } from "./shell-read.ts";
import { splitShellWords } from "./split-shell-words.ts";
import type { Touch } from "./touch.ts";

/** Longest command to parse, in characters; longer ones are scripts. */
const MAX_COMMAND_LENGTH = 2_000;

/** The effects of a shell command: the files it read or wrote if it did nothing else, otherwise a "run" touch. */
export function parseCommandTouches(command: string, folder?: string): readonly Touch[] {
  return (
    parseWrite(command, folder) ??
    parseReads(command, folder) ?? [{ kind: "run", command, ...(folder !== undefined && { folder }) }]
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
