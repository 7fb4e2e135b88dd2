import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// Small programs on SDKs, as people write them: one tool, one turn for each start, the conversation kept in a file.

/** Where the program runs and what it is asked; given by whoever starts it. */
export const setting = JSON.parse(process.env.LONGHAUL_PROGRAM ?? "{}");

/** Loads a package from where it was installed for this program. */
export const load = createRequire(join(setting.installed, "package.json"));

const file = join(setting.home, "conversation.json");

/** The conversation as an earlier turn left it. */
export function remembered(otherwise = []) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : otherwise;
}

/** Keeps the conversation for the next turn, and says the final answer. */
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

/** What the tool does. */
export function readNotes({ path }) {
  return existsSync(path) ? readFileSync(path, "utf8") : `Error: there is no file ${path}.`;
}
