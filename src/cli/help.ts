import { COMMON_OPTIONS, type Command, type CommandGroup, type OptionSpecs } from "./command.ts";
import { padTo } from "./width.ts";
import { wrapTo } from "./wrap.ts";

const COLUMNS = 100;

/** Builds the help of the program. */
export function programHelp(commands: readonly Pick<Command, "name" | "summary">[]): string {
  return `longhaul: the memory of long-running agents.

Usage: longhaul <command> [options]

${section(
  "Commands",
  commands.map(({ name, summary }) => [name, summary]),
)}
${section("Common options", optionRows(COMMON_OPTIONS))}
Run "longhaul help <command>" for details of a command, "longhaul --version" for the version.
`;
}

/** Builds the help of one command. */
export function commandHelp(command: Command): string {
  const usage = command.usage.map((line, index) => `${index === 0 ? "Usage:" : "      "} longhaul ${line}`);
  return `longhaul ${command.name}: ${command.summary}.

${usage.join("\n")}
${command.about === undefined ? "" : `\n${wrapText(command.about)}\n`}
${section("Options", optionRows({ ...command.options, ...COMMON_OPTIONS }))}
Examples:
${command.examples.map((example) => `  ${example}`).join("\n")}
`;
}

/** Builds the help of a command group. */
export function groupHelp(group: CommandGroup, commands: readonly Command[]): string {
  const { name, summary, about, examples } = group;
  return `longhaul ${name}: ${summary}.

Usage: longhaul ${name} <command> [options]
${about === undefined ? "" : `\n${wrapText(about)}\n`}
${section(
  "Commands",
  commands.map((command) => [command.name, command.summary]),
)}
${section("Common options", optionRows(COMMON_OPTIONS))}
Examples:
${examples.map((example) => `  ${example}`).join("\n")}

Run "longhaul ${name} <command> --help" for details of a command.
`;
}

function optionRows(specs: OptionSpecs): readonly (readonly [string, string])[] {
  return Object.entries(specs).map(([name, { short, value, help }]) => {
    const option = `--${name}${value === undefined ? "" : ` ${value}`}`;
    return [short === undefined ? `    ${option}` : `-${short}, ${option}`, help];
  });
}

function section(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  const margin = " ".repeat(width + 4);
  const lines = rows.flatMap(([left, right]) =>
    wrapTo(right, COLUMNS - margin.length).map((line, index) =>
      index === 0 ? `  ${padTo(left, width)}  ${line}\n` : `${margin}${line}\n`,
    ),
  );
  return `${title}:\n${lines.join("")}`;
}

function wrapText(text: string): string {
  return wrapTo(text, COLUMNS).join("\n");
}
