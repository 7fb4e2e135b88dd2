import { COMMON_OPTIONS, type Command, type CommandGroup, type OptionSpecs } from "./command.ts";
import { padTo } from "./width.ts";

/** Builds the help of the program. */
export function programHelp(commands: readonly Pick<Command, "name" | "summary">[]): string {
  return `longhaul: the memory of long-running agents.

Usage: longhaul <command> [options]

${section(
  "Commands",
  commands.map(({ name, summary }) => [name, summary]),
)}
${section("Options of every command", optionRows(COMMON_OPTIONS))}
"longhaul help <command>" says more about one of them; "longhaul --version" tells the version.
`;
}

/** Builds the help of one command. */
export function commandHelp(command: Command): string {
  const usage = command.usage.map((line, index) => `${index === 0 ? "Usage:" : "      "} longhaul ${line}`);
  return `longhaul ${command.name}: ${command.summary}.

${usage.join("\n")}
${command.about === undefined ? "" : `\n${command.about}\n`}
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
${about === undefined ? "" : `\n${about}\n`}
${section(
  "Commands",
  commands.map((command) => [command.name, command.summary]),
)}
${section("Options of every command", optionRows(COMMON_OPTIONS))}
Examples:
${examples.map((example) => `  ${example}`).join("\n")}

"longhaul ${name} <command> --help" says more about one of them.
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
  return `${title}:\n${rows.map(([left, right]) => `  ${padTo(left, width)}  ${right}\n`).join("")}`;
}
