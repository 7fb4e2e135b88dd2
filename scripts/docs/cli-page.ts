import { readFileSync } from "node:fs";
import {
  type CliCommand,
  COMMON_OPTIONS,
  type CommandGroup,
  isCommandGroup,
  type OptionSpecs,
} from "../../src/cli/cli-command.ts";
import { COMMAND_GROUPS } from "../../src/cli/command-words.ts";
import { COMMANDS } from "../../src/cli/program.ts";

/** The beginning of the page, and further facts of single commands under a heading with the name of the command. */
const NOTES = new URL("./cli-notes.txt", import.meta.url);

/** The page has the first sentences about a command, up to this many words; the help has all of them. */
const MAX_ABOUT_WORDS = 12;

/** A command of the page: a single one, or a group with its members. */
export interface PageCommand {
  readonly name: string;
  readonly command: CliCommand | CommandGroup;
  readonly members: readonly CliCommand[];
}

/** Loads all commands that the help shows, in the order of the help. */
export async function loadPageCommands(): Promise<readonly PageCommand[]> {
  const grouped = Object.values(COMMAND_GROUPS).flat();
  const names = [...grouped, ...Object.keys(COMMANDS).filter((name) => !grouped.includes(name))];
  return Promise.all(
    names.map(async (name) => {
      const command = await COMMANDS[name]?.();
      if (command === undefined) throw new Error(`The help lists ${name}, which is not a command`);
      if (!isCommandGroup(command)) return { name, command, members: [] };
      const shown = Object.entries(command.commands).filter(([word]) => !command.hidden?.includes(word));
      return { name, command, members: await Promise.all(shown.map(([, load]) => load())) };
    }),
  );
}

/** Builds docs/cli.md from the commands of the program and the notes. */
export async function buildCliPage(): Promise<string> {
  const notes = readNotes();
  const commands = await loadPageCommands();
  const unknown = [...notes.keys()].filter(
    (name) => name !== "" && !commands.some((one) => one.name === name),
  );
  if (unknown.length > 0) throw new Error(`cli-notes.txt describes ${unknown}, which are not commands`);
  const sections = commands.map(({ name, command, members }) =>
    [
      `## ${name}`,
      ...(isCommandGroup(command)
        ? [
            formatSummary(command),
            ...members.flatMap((member) => formatCommand(member, `### ${member.name}`)),
          ]
        : formatCommand(command)),
      ...(notes.get(name) ?? []),
    ].join("\n\n"),
  );
  const begin = (notes.get("") ?? [])
    .join("\n\n")
    .replace("{{common options}}", formatOptions(COMMON_OPTIONS));
  return `${[begin, ...sections].join("\n\n")}\n`;
}

function formatCommand(command: CliCommand, ...heading: readonly string[]): readonly string[] {
  return [
    ...heading,
    ["```", ...command.usage.map((line) => `longhaul ${line}`), "```"].join("\n"),
    formatSummary(command),
    ...(Object.keys(command.options).length === 0 ? [] : [formatOptions(command.options)]),
  ];
}

function formatSummary({ summary, about }: Pick<CliCommand, "summary" | "about">): string {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return wrap(escapeText(about === undefined ? sentence : `${sentence} ${takeFirstSentences(about)}`));
}

function takeFirstSentences(text: string): string {
  const sentences = text.replaceAll(/\s+/g, " ").split(/(?<=\.) (?=[A-Z])/);
  const taken = sentences.findIndex(
    (_, index) =>
      sentences
        .slice(0, index + 1)
        .join(" ")
        .split(" ").length > MAX_ABOUT_WORDS,
  );
  return (taken === -1 ? sentences : sentences.slice(0, Math.max(taken, 1))).join(" ");
}

function formatOptions(options: OptionSpecs): string {
  return Object.entries(options)
    .map(([name, { short, value, help }]) => {
      const flag = `--${name}${value === undefined ? "" : ` ${value}`}`;
      return `- \`${short === undefined ? flag : `-${short}, ${flag}`}\` ${escapeText(help)}`;
    })
    .join("\n");
}

/** Keeps placeholders such as <session> from being read as markup. */
function escapeText(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/<([a-z]+)>/g, "`<$1>`");
}

function wrap(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 120) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}

function readNotes(): ReadonlyMap<string, readonly string[]> {
  const [begin = "", ...sections] = readFileSync(NOTES, "utf8").split(/^## /m);
  return new Map([
    ["", [begin.trim()]],
    ...sections.map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end).trim(), [section.slice(end).trim()]] as const;
    }),
  ]);
}
