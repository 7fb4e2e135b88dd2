import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// Small SDK programs as people write them: one tool, one turn per start, the conversation in a file.

/** Settings and prompt of the program, passed in by its starter. */
export const setting = JSON.parse(process.env.LONGHAUL_PROGRAM ?? "{}");

/** Loads a package that was installed for this program. */
export const load = createRequire(join(setting.installed, "package.json"));

const file = join(setting.home, "conversation.json");

/** The conversation of earlier turns. */
export function remembered(otherwise = []) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : otherwise;
}

/** Saves the conversation for the next turn and prints the final answer. */
export function finish(conversation, answer) {
  writeFileSync(file, JSON.stringify(conversation));
  process.stdout.write(`${answer}\n`);
}

export const INSTRUCTIONS = "You are a careful assistant who reads files before answering.";

export const TOOL = {
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** The tool's implementation. */
export function readNotes({ path }) {
  return existsSync(path) ? readFileSync(path, "utf8") : `Error: there is no file ${path}.`;
}
