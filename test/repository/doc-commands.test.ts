import { expect, test } from "vitest";
import {
  type CliCommand,
  COMMON_OPTIONS,
  isCommandGroup,
  type OptionSpecs,
} from "../../src/cli/cli-command.ts";
import { COMMANDS, PROGRAM } from "../../src/cli/program.ts";
import { type CommandLine, commandLinesOf } from "../support/docs/command-lines.ts";
import { readPages } from "../support/docs/pages.ts";

const lines = readPages().flatMap((page) =>
  commandLinesOf(page).map((line) => ({ ...line, page: page.path })),
);

/** The command that a line names; undefined if there is none, "any" if the line names no single command. */
async function commandOf({ words: [name, second] }: CommandLine): Promise<CliCommand | "any" | undefined> {
  if (name === undefined || name === "help") return "any";
  const found = await COMMANDS[name]?.();
  if (found === undefined || !isCommandGroup(found)) return found;
  return second === undefined ? "any" : found.commands[second]?.();
}

/** Flags of a line that its command does not have. */
function unknownFlags({ flags }: CommandLine, command: CliCommand | "any"): readonly string[] {
  const own: OptionSpecs = command === "any" ? PROGRAM.options : command.options;
  const options: OptionSpecs = { ...COMMON_OPTIONS, ...own };
  const known = Object.entries(options).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short ? [`-${short}`] : []),
  ]);
  return flags.filter((flag) => !known.includes(flag));
}

test("every command and flag on a page exists", async () => {
  expect(lines.length).toBeGreaterThan(80);
  const unknown: string[] = [];
  for (const line of lines) {
    const command = await commandOf(line);
    if (command === undefined) unknown.push(`${line.page}: ${line.text}`);
    else unknown.push(...unknownFlags(line, command).map((flag) => `${line.page}: ${line.text}: ${flag}`));
  }
  expect(unknown).toEqual([]);
});

test("the pages name every command", async () => {
  const shown = new Set(lines.map(({ words: [name] }) => name));
  expect(Object.keys(COMMANDS).filter((name) => !shown.has(name))).toEqual([]);
});
