import type { Context } from "./context.ts";

/** An option of a command. */
export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly short?: string;
  readonly multiple?: true;
  /** What the value is called in the help. */
  readonly value?: string;
  readonly help: string;
}

/** Options by name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** What was given of some options. */
export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: Specs[Name] extends { readonly type: "boolean" }
    ? boolean
    : Specs[Name] extends { readonly multiple: true }
      ? readonly string[]
      : string;
};

/** Options that every command knows. */
export const COMMON_OPTIONS = {
  store: { type: "string", value: "PATH", help: "folder of the store (LONGHAUL_HOME, else ~/.longhaul)" },
  json: { type: "boolean", help: "print JSON for programs" },
  quiet: { type: "boolean", short: "q", help: "leave out hints, progress and what went well" },
  "no-color": { type: "boolean", help: "no colours (also NO_COLOR; FORCE_COLOR for the opposite)" },
  help: { type: "boolean", short: "h", help: "show this help" },
} as const satisfies OptionSpecs;

/** What was given of the options that every command knows. */
export type CommonValues = OptionValues<typeof COMMON_OPTIONS>;

/** The arguments of a command, read. */
export interface Given<Specs extends OptionSpecs = OptionSpecs> {
  readonly operands: readonly string[];
  readonly options: OptionValues<Specs> & CommonValues;
}

/** One command of the program. */
export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  readonly summary: string;
  /** How it is written, one way a line, without the name of the program. */
  readonly usage: readonly string[];
  /** What has to be known besides its options. */
  readonly about?: string;
  readonly options: Specs;
  /** Most operands it takes. */
  readonly maxOperands: number;
  readonly examples: readonly string[];
  /** Carries it out; returns the exit code. */
  run(context: Context, given: Given<Specs>): Promise<number>;
}

/** Checks that a command reads no option which it does not declare. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command {
  return command as unknown as Command;
}

/** Several commands under one name, as `task`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly about?: string;
  /** By the word behind the name; each is called by both words, as "task run". */
  readonly commands: Readonly<Record<string, () => Promise<Command>>>;
  /** Those that are not for people to call, and not in the help. */
  readonly hidden?: readonly string[];
  readonly examples: readonly string[];
}

/** Tells a group from a command. */
export function isGroup(one: Command | CommandGroup): one is CommandGroup {
  return "commands" in one;
}
