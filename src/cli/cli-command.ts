import type { CliContext } from "./cli-context.ts";

export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly short?: string;
  readonly multiple?: true;
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly help: string;
}

/** Options by name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Values of parsed options, typed by their specs. */
export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: Specs[Name] extends { readonly type: "boolean" }
    ? boolean
    : Specs[Name] extends { readonly multiple: true }
      ? readonly string[]
      : string;
};

/** Options that every command accepts. */
export const COMMON_OPTIONS = {
  store: {
    type: "string",
    value: "PATH",
    help: "store folder, or postgres://… (default: LONGHAUL_STORE, else `store` of the configuration, else LONGHAUL_HOME, else ~/.longhaul)",
  },
  json: { type: "boolean", help: "print machine-readable JSON" },
  quiet: { type: "boolean", short: "q", help: "omit hints, progress and success messages" },
  "no-color": { type: "boolean", help: "disable colors (also NO_COLOR; FORCE_COLOR enables them)" },
  help: { type: "boolean", short: "h", help: "show this help" },
} as const satisfies OptionSpecs;

export type CommonValues = OptionValues<typeof COMMON_OPTIONS>;

/** Parsed arguments of a command. */
export interface ParsedArguments<Specs extends OptionSpecs = OptionSpecs> {
  readonly operands: readonly string[];
  readonly options: OptionValues<Specs> & CommonValues;
}

/** One command of the program. */
export interface CliCommand<Specs extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  readonly summary: string;
  /** Usage lines, without the name of the program. */
  readonly usage: readonly string[];
  /** Further help text, shown above the options. */
  readonly about?: string;
  readonly options: Specs;
  /** Maximum number of operands. */
  readonly maxOperands: number;
  readonly examples: readonly string[];
  /** Runs the command and returns the exit code. */
  run(context: CliContext, given: ParsedArguments<Specs>): Promise<number>;
}

/** Types `run` by the declared options, so a command cannot read an option that it does not declare. */
export function defineCommand<const Specs extends OptionSpecs>(command: CliCommand<Specs>): CliCommand {
  return command as unknown as CliCommand;
}

/** Several commands under one name, such as `task`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly about?: string;
  /** Loaders by the word after the group's name; each loaded command is named by both words: "task run". */
  readonly commands: Readonly<Record<string, () => Promise<CliCommand>>>;
  /** Words of internal commands that the help omits. */
  readonly hidden?: readonly string[];
  readonly examples: readonly string[];
}

export function isCommandGroup(one: CliCommand | CommandGroup): one is CommandGroup {
  return "commands" in one;
}
