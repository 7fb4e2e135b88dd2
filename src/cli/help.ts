import { type CliCommand, COMMON_OPTIONS, type CommandGroup, type OptionSpecs } from "./cli-command.ts";
import { COMMAND_GROUPS } from "./command-words.ts";
import { padText } from "./terminal/width.ts";
import { wrapText } from "./terminal/wrap-text.ts";

const COLUMNS = 100;

/** Builds the help of the program. */
export function formatProgramHelp(commands: readonly Pick<CliCommand, "name" | "summary">[]): string {
  return `longhaul: the memory of long-running agents.

Usage: longhaul <command> [options]

${formatCommandGroups(commands)}
${formatSection("Common options", buildOptionRows(COMMON_OPTIONS))}
Run "longhaul help <command>" for details of a command, "longhaul --version" for the version.
`;
}

/** Builds the help of one command. */
export function formatCommandHelp(command: CliCommand): string {
  const usage = command.usage.map((line, index) => `${index === 0 ? "Usage:" : "      "} longhaul ${line}`);
  return `longhaul ${command.name}: ${command.summary}.

${usage.join("\n")}
${command.about === undefined ? "" : `\n${wrapParagraph(command.about)}\n`}
${formatSection("Options", buildOptionRows({ ...command.options, ...COMMON_OPTIONS }))}
Examples:
${command.examples.map((example) => `  ${example}`).join("\n")}
`;
}

/** Builds the help of a command group. */
export function formatGroupHelp(group: CommandGroup, commands: readonly CliCommand[]): string {
  const { name, summary, about, examples } = group;
  return `longhaul ${name}: ${summary}.

Usage: longhaul ${name} <command> [options]
${about === undefined ? "" : `\n${wrapParagraph(about)}\n`}
${formatSection(
  "Commands",
  commands.map((command) => [command.name, command.summary]),
)}
${formatSection("Common options", buildOptionRows(COMMON_OPTIONS))}
Examples:
${examples.map((example) => `  ${example}`).join("\n")}

Run "longhaul ${name} <command> --help" for details of a command.
`;
}

/** Lists the commands by the wish of a person, all in one column width. */
function formatCommandGroups(commands: readonly Pick<CliCommand, "name" | "summary">[]): string {
  const grouped = new Set(Object.values(COMMAND_GROUPS).flat());
  const other = commands.flatMap(({ name }) => (grouped.has(name) ? [] : [name]));
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [...Object.entries(COMMAND_GROUPS), ["Other", other] as const]
    .map(([title, names]) => ({
      title,
      rows: names.flatMap((name) => {
        const command = commands.find((one) => one.name === name);
        return command ? [[padText(name, width), command.summary] as const] : [];
      }),
    }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => formatSection(title, rows))
    .join("\n");
}

function buildOptionRows(specs: OptionSpecs): readonly (readonly [string, string])[] {
  return Object.entries(specs).map(([name, { short, value, help }]) => {
    const option = `--${name}${value === undefined ? "" : ` ${value}`}`;
    return [short === undefined ? `    ${option}` : `-${short}, ${option}`, help];
  });
}

function formatSection(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  const margin = " ".repeat(width + 4);
  const lines = rows.flatMap(([left, right]) =>
    wrapText(right, COLUMNS - margin.length).map((line, index) =>
      index === 0 ? `  ${padText(left, width)}  ${line}\n` : `${margin}${line}\n`,
    ),
  );
  return `${title}:\n${lines.join("")}`;
}

function wrapParagraph(text: string): string {
  return wrapText(text, COLUMNS).join("\n");
}
