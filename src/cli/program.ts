import { isLonghaulError } from "../kernel/index.ts";
import { readVersion } from "../model/base/package-files.ts";
import {
  type CliCommand,
  COMMON_OPTIONS,
  type CommandGroup,
  isCommandGroup,
  type OptionSpecs,
} from "./cli-command.ts";
import type { CliContext } from "./cli-context.ts";
import { ADVICE, COMMAND_GROUPS, SYNONYMS } from "./command-words.ts";
import { EXIT } from "./exit-code.ts";
import { canAsk, isFirstRun } from "./first-run/first-run.ts";
import { parseArguments, splitCommand } from "./parse-arguments.ts";
import { escapeText, toSafeJson } from "./terminal/escape.ts";
import { nearestWords } from "./terminal/nearest-words.ts";
import { printTo, ReaderGoneError } from "./terminal/printer.ts";
import { padText } from "./terminal/width.ts";
import { wrapText } from "./terminal/wrap-text.ts";
import { UsageError } from "./usage-error.ts";

/** A failure as text for people, JSON for programs and an exit code. */
interface CliFailure {
  readonly message: string;
  readonly json: string;
  readonly exitCode: number;
}

/** Commands are loaded on demand: those that import all formats take longest. */
export const COMMANDS: Readonly<Record<string, () => Promise<CliCommand | CommandGroup>>> = {
  import: async () => (await import("./commands/import-command.ts")).importCommand,
  sessions: async () => (await import("./commands/sessions-command.ts")).sessionsCommand,
  show: async () => (await import("./commands/show-command.ts")).showCommand,
  context: async () => (await import("./commands/context-command.ts")).contextCommand,
  usage: async () => (await import("./commands/usage-command.ts")).usageCommand,
  cache: async () => (await import("./commands/cache-command.ts")).cacheCommand,
  compact: async () => (await import("./commands/compact-command.ts")).compactCommand,
  revert: async () => (await import("./commands/revert-command.ts")).revertCommand,
  pin: async () => (await import("./commands/pin-command.ts")).pinCommand,
  unpin: async () => (await import("./commands/pin-command.ts")).unpinCommand,
  recall: async () => (await import("./commands/recall-command.ts")).recallCommand,
  decisions: async () => (await import("./commands/decisions-command.ts")).decisionsCommand,
  index: async () => (await import("./commands/index-command.ts")).indexCommand,
  remember: async () => (await import("./commands/memories-command.ts")).rememberCommand,
  memories: async () => (await import("./commands/memories-command.ts")).memoriesCommand,
  forget: async () => (await import("./commands/forget-command.ts")).forgetCommand,
  task: async () => (await import("./commands/task-commands.ts")).taskCommands,
  worker: async () => (await import("./commands/worker-command.ts")).workerCommand,
  continue: async () => (await import("./commands/continue-command.ts")).continueCommand,
  export: async () => (await import("./commands/export-command.ts")).exportCommand,
  replay: async () => (await import("./commands/replay-command.ts")).replayCommand,
  backup: async () => (await import("./commands/backup-command.ts")).backupCommand,
  restore: async () => (await import("./commands/backup-command.ts")).restoreCommand,
  doctor: async () => (await import("./commands/doctor-command.ts")).doctorCommand,
  gc: async () => (await import("./commands/gc-command.ts")).gcCommand,
  retention: async () => (await import("./commands/retention-command.ts")).retentionCommand,
  check: async () => (await import("./commands/check-command.ts")).checkCommand,
  migrate: async () => (await import("./commands/migrate-command.ts")).migrateCommand,
  repair: async () => (await import("./commands/check-command.ts")).repairCommand,
  dashboard: async () => (await import("./commands/dashboard-command.ts")).dashboardCommand,
  serve: async () => (await import("./commands/serve-command.ts")).serveCommand,
  token: async () => (await import("./commands/token-commands.ts")).tokenCommands,
  audit: async () => (await import("./commands/audit-command.ts")).auditCommand,
  mcp: async () => (await import("./commands/mcp-command.ts")).mcpCommand,
  hook: async () => (await import("./commands/hook-command.ts")).hookCommand,
  statusline: async () => (await import("./commands/hook-command.ts")).statuslineCommand,
  connect: async () => (await import("./commands/connect-command.ts")).connectCommand,
  disconnect: async () => (await import("./commands/connect-command.ts")).disconnectCommand,
  service: async () => (await import("./commands/service-commands.ts")).serviceCommands,
  top: async () => (await import("./commands/top-command.ts")).topCommand,
  status: async () => (await import("./commands/status-command.ts")).statusCommand,
  config: async () => (await import("./commands/config-commands.ts")).configCommands,
  completion: async () =>
    (await import("./commands/completion-command.ts")).createCompletionCommand(COMMANDS),
  trust: async () => (await import("./commands/trust-command.ts")).trustCommand,
};

/** Arguments that are valid without a command. */
export const PROGRAM = {
  name: "longhaul",
  options: { version: { type: "boolean", short: "V", help: "show the version" } },
  maxOperands: 2,
} as const;

/** Runs a command line and returns the exit code. */
export async function runProgram(args: readonly string[], context: CliContext): Promise<number> {
  const called = { topic: "" };
  try {
    return await runCommand(args, context, called);
  } catch (error) {
    // Being stopped is not a failure: start() sets the exit code of the signal.
    if (error instanceof ReaderGoneError || (context.signal.aborted && isAbort(error))) return EXIT.fine;
    const { message, json, exitCode } = describeFailure(error, called.topic || undefined);
    context.stderr.write(message);
    if (getOwnArguments(args).includes("--json")) context.stdout.write(json);
    return exitCode;
  }
}

/** Sets `called.topic` to the name of the command, for error messages. */
async function runCommand(
  args: readonly string[],
  context: CliContext,
  called: { topic: string },
): Promise<number> {
  const say = async (text: string) => {
    await printTo(context.stdout, text, context.signal);
    return EXIT.fine;
  };
  const { name, rest } = splitCommand(args);
  if (name === undefined || name === "help" || (name === "init" && canAsk(context))) {
    const { operands, options } = parseArguments(PROGRAM, rest);
    if (options.version) return say(`${readVersion()}\n`);
    if (name === "init" || (name === undefined && !options.help && isFirstRun(context, options)))
      return (await import("./first-run/run-tour.ts")).runTour(context, options);
    return say(await formatHelp(operands));
  }
  const one = await loadCommand(name === "open" && !isOperand(rest[0]) ? "dashboard" : name);
  called.topic = one.name;
  if (!isCommandGroup(one)) return start(one, rest);
  const inner = splitCommand(rest);
  if (inner.name === undefined || inner.name === "help") {
    const { operands } = parseArguments({ name, options: {}, maxOperands: 1 }, inner.rest);
    return say(await formatHelp([name, ...operands]));
  }
  const command = await loadMember(one, inner.name);
  called.topic = command.name;
  return start(command, inner.rest);

  async function start(command: CliCommand, rest: readonly string[]): Promise<number> {
    const given = parseArguments(command, rest);
    return given.options.help ? say(formatCommandHelp(command)) : command.run(context, given);
  }
}

function isOperand(argument: string | undefined): boolean {
  return argument !== undefined && !argument.startsWith("-");
}

/** Returns the arguments before `--`, which precedes the program to run. */
function getOwnArguments(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end === -1 ? args : args.slice(0, end);
}

function isAbort(error: unknown): boolean {
  return isLonghaulError(error, "ABORTED") || (error instanceof Error && error.name === "AbortError");
}

function isCommand(name: string | undefined): boolean {
  return name !== undefined && Object.hasOwn(COMMANDS, name);
}

async function loadCommand(name: string): Promise<CliCommand | CommandGroup> {
  const load = isCommand(name) ? COMMANDS[name] : undefined;
  if (load) return load();
  throw createNoCommandError(name, [...Object.keys(COMMANDS), "help"]);
}

async function loadMember({ name, commands, hidden = [] }: CommandGroup, word: string): Promise<CliCommand> {
  const load = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (load) return load();
  const known = Object.keys(commands).filter((one) => !hidden.includes(one));
  throw createNoCommandError(word, known, `${name} `);
}

function createNoCommandError(word: string, known: readonly string[], prefix = ""): UsageError {
  const advice = prefix === "" && Object.hasOwn(ADVICE, word) ? ADVICE[word] : undefined;
  if (advice !== undefined) return new UsageError(`there is no command ${JSON.stringify(word)}; ${advice}`);
  const meant = prefix === "" && Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
  const isKnown = meant?.startsWith("--") || known.includes(meant?.split(" ")[0] ?? "");
  const nearest = isKnown ? meant : nearestWords(word, known)[0];
  const hint = nearest === undefined ? "" : `; did you mean ${prefix}${nearest}?`;
  return new UsageError(`there is no command ${JSON.stringify(`${prefix}${word}`)}${hint}`);
}

async function formatHelp([name, word]: readonly string[]): Promise<string> {
  if (name === undefined)
    return formatProgramHelp(await Promise.all(Object.values(COMMANDS).map((load) => load())));
  const guide = /^[A-Z0-9_]+$/.test(name) && (await import("./error-guide.ts")).formatErrorGuide(name);
  if (guide) return guide;
  const one = await loadCommand(name);
  if (!isCommandGroup(one) && word !== undefined) throw new UsageError(`${name} has no commands of its own`);
  if (!isCommandGroup(one)) return formatCommandHelp(one);
  if (word !== undefined) return formatCommandHelp(await loadMember(one, word));
  const shown = Object.entries(one.commands).filter(([member]) => !one.hidden?.includes(member));
  return formatGroupHelp(one, await Promise.all(shown.map(([, load]) => load())));
}

/**
 * Describes a failure of a command, or of the program before a command is known. Unknown errors are bugs of ours and
 * come with their stack.
 */
function describeFailure(error: unknown, command: string | undefined): CliFailure {
  if (error instanceof UsageError) {
    const end = error.message.endsWith("?") ? "" : ".";
    const help = command === undefined ? "longhaul help" : `longhaul help ${command}`;
    return buildFailure(`${error.message}${end} See "${help}".`, "USAGE", {}, EXIT.usage);
  }
  if (isLonghaulError(error)) {
    const exitCode = error.code === "ARGUMENT_INVALID" ? EXIT.usage : EXIT.failed;
    return buildFailure(error.message, error.code, error.details, exitCode);
  }
  const { code, message, stack }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error));
  return code === undefined
    ? buildFailure(`${stack ?? message}`, "UNEXPECTED", {}, EXIT.failed)
    : buildFailure(message, code, {}, EXIT.failed);
}

function buildFailure(message: string, code: string, details: object, exitCode: number): CliFailure {
  return {
    message: `longhaul: ${escapeText(message)}\n`,
    json: `${toSafeJson({ error: { code, message, details } })}\n`,
    exitCode,
  };
}

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
