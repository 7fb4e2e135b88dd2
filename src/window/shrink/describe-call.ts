import type { ToolCallPart } from "../../model/part.ts";
import { findTouches } from "../effects/find-touches.ts";

const MAX_CHARACTERS = 60;
const WORD = /^[\w.-]{1,20}$/;
const FLAG = /^-/;

/**
 * A call in a few words: the tool with its file, or with the program of its command. Never more of a command, because
 * it may hold a secret, and a description outlives the redaction of the call.
 */
export function describeCall(call: ToolCallPart): string {
  const touches = findTouches(call);
  const path = touches.length === 1 ? touches[0]?.path : undefined;
  const command = touches.find(({ kind }) => kind === "run")?.command;
  const words = path === undefined ? listProgramWords(command ?? "") : [path];
  const line = [call.name, ...words].join(" ").replace(/[\s[\]()]+/g, " ");
  return line.length <= MAX_CHARACTERS
    ? line
    : `${call.name} …${line.slice(-(MAX_CHARACTERS - call.name.length))}`;
}

/** The program, and its subcommand where it has one. */
function listProgramWords(command: string): readonly string[] {
  const [program = "", subcommand = ""] = command.trim().split(/\s+/);
  if (!WORD.test(program)) return [];
  return PROGRAMS.has(program) && WORD.test(subcommand) && !FLAG.test(subcommand)
    ? [program, subcommand]
    : [program];
}

/** Programs whose second word is a subcommand. */
const PROGRAMS = new Set([
  "git",
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "go",
  "cargo",
  "docker",
  "kubectl",
  "make",
  "gh",
]);
