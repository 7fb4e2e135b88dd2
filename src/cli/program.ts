import { readFileSync } from "node:fs";
import { isLonghaulError } from "../index.ts";
import { readArguments, splitCommand } from "./arguments.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { describeFailure } from "./failure.ts";
import { commandHelp, programHelp } from "./help.ts";
import { nearestWords } from "./nearest.ts";
import { printTo, ReaderGone } from "./printer.ts";
import { UsageError } from "./usage-error.ts";

/** Each command is loaded only when it is needed: those that know all formats take longest. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  import: async () => (await import("./commands/import.ts")).importCommand,
  sessions: async () => (await import("./commands/sessions.ts")).sessionsCommand,
  show: async () => (await import("./commands/show.ts")).showCommand,
  context: async () => (await import("./commands/context.ts")).contextCommand,
  usage: async () => (await import("./commands/usage.ts")).usageCommand,
  compact: async () => (await import("./commands/compact.ts")).compactCommand,
  revert: async () => (await import("./commands/revert.ts")).revertCommand,
  pin: async () => (await import("./commands/pin.ts")).pinCommand,
  unpin: async () => (await import("./commands/pin.ts")).unpinCommand,
  recall: async () => (await import("./commands/recall.ts")).recallCommand,
  index: async () => (await import("./commands/index.ts")).indexCommand,
  remember: async () => (await import("./commands/remember.ts")).rememberCommand,
  memories: async () => (await import("./commands/memories.ts")).memoriesCommand,
  forget: async () => (await import("./commands/forget.ts")).forgetCommand,
  export: async () => (await import("./commands/export.ts")).exportCommand,
  replay: async () => (await import("./commands/replay.ts")).replayCommand,
};

/** What can stand where no command does. */
const PROGRAM = {
  name: "longhaul",
  options: { version: { type: "boolean", short: "V", help: "show the version" } },
  maxOperands: 1,
} as const;

/** Carries out a command line; returns the exit code. */
export async function runProgram(args: readonly string[], context: Context): Promise<number> {
  const { name, rest } = splitCommand(args);
  try {
    return await runCommand(name, rest, context);
  } catch (error) {
    // Being stopped is no failure: whoever sent the signal knows, and start() gives it its exit code.
    if (error instanceof ReaderGone || (context.signal.aborted && isAbort(error))) return EXIT.fine;
    const { message, json, exitCode } = describeFailure(error, isCommand(name) ? name : undefined);
    context.stderr.write(message);
    if (args.includes("--json")) context.stdout.write(json);
    return exitCode;
  }
}

async function runCommand(
  name: string | undefined,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  const say = async (text: string) => {
    await printTo(context.stdout, text, context.signal);
    return EXIT.fine;
  };
  if (name === undefined || name === "help") {
    const { operands, options } = readArguments(PROGRAM, rest);
    if (options.version) return say(`${version()}\n`);
    return say(operands[0] === undefined ? await wholeHelp() : commandHelp(await commandOf(operands[0])));
  }
  const command = await commandOf(name);
  const given = readArguments(command, rest);
  return given.options.help ? say(commandHelp(command)) : command.run(context, given);
}

function isAbort(error: unknown): boolean {
  return isLonghaulError(error, "ABORTED") || (error instanceof Error && error.name === "AbortError");
}

function isCommand(name: string | undefined): boolean {
  return name !== undefined && Object.hasOwn(COMMANDS, name);
}

async function commandOf(name: string): Promise<Command> {
  const load = isCommand(name) ? COMMANDS[name] : undefined;
  if (load) return load();
  const [nearest] = nearestWords(name, [...Object.keys(COMMANDS), "help"]);
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  throw new UsageError(`there is no command ${JSON.stringify(name)}${hint}`);
}

async function wholeHelp(): Promise<string> {
  return programHelp(await Promise.all(Object.values(COMMANDS).map((load) => load())));
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
}
