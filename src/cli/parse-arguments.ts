import { parseArgs } from "node:util";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import {
  type CliCommand,
  COMMON_OPTIONS,
  type OptionSpec,
  type OptionSpecs,
  type ParsedArguments,
} from "./cli-command.ts";
import { nearestWords } from "./terminal/nearest-words.ts";
import { UsageError } from "./usage-error.ts";

/** Separates the command's name from its arguments; common options may precede the name. */
export function splitCommand(args: readonly string[]): {
  readonly name: string | undefined;
  readonly rest: readonly string[];
} {
  const { tokens } = parseArgs({
    args: [...args],
    options: toParserOptions(COMMON_OPTIONS),
    strict: false,
    tokens: true,
  });
  const first = tokens.find(({ kind }) => kind === "positional" || kind === "option-terminator");
  if (first?.kind !== "positional") return { name: undefined, rest: args };
  return { name: first.value, rest: args.toSpliced(first.index, 1) };
}

/** Parses the arguments of a command; throws UsageError. */
export function parseArguments(
  command: Pick<CliCommand, "name" | "options" | "maxOperands">,
  args: readonly string[],
): ParsedArguments {
  const specs: OptionSpecs = { ...command.options, ...COMMON_OPTIONS };
  const { tokens, values, positionals } = parseArgs({
    args: [...args],
    options: toParserOptions(specs),
    strict: false,
    tokens: true,
  });
  for (const token of tokens) if (token.kind === "option") checkOption(token, specs, command.name);
  const tooMany = positionals[command.maxOperands];
  if (tooMany !== undefined) {
    throw new UsageError(`${command.name} does not take ${JSON.stringify(tooMany)}`);
  }
  return { operands: positionals, options: values as ParsedArguments["options"] };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function checkOption(token: OptionToken, specs: OptionSpecs, command: string): void {
  const { name, rawName, value, inlineValue } = token;
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
  if (!spec) throw createUnknownOptionError(rawName, name, Object.keys(specs), command);
  if (spec.type === "boolean" && value !== undefined) {
    throw new UsageError(`${rawName} takes no value`);
  }
  if (spec.type === "string" && (value === undefined || value === "")) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${spec.value ?? "VALUE"}`);
  }
  if (spec.type === "string" && !inlineValue && value?.startsWith("-") && value !== "-") {
    throw new UsageError(
      `${rawName} needs a value; write a value that begins with a dash as --${name}=${value}`,
    );
  }
}

function createUnknownOptionError(
  rawName: string,
  name: string,
  known: readonly string[],
  command: string,
): UsageError {
  const [nearest] = nearestWords(name, known);
  const hint = nearest === undefined ? "" : `; did you mean --${nearest}?`;
  return new UsageError(`${command} has no option ${rawName}${hint}`);
}

function toParserOptions(specs: OptionSpecs) {
  const entries = Object.entries(specs).map(([name, { type, short, multiple }]: [string, OptionSpec]) => [
    name,
    { type, ...dropUndefined({ short, multiple }) },
  ]);
  return Object.fromEntries(entries) as Record<string, { type: OptionSpec["type"] }>;
}

/**
 * Parses the number of an option, or returns `otherwise` if the option is absent. Throws UsageError unless the number
 * is a whole number from 1 to `max`.
 */
export function parseCountOption(
  option: string,
  text: string | undefined,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  if (text === undefined) return otherwise;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}; expected a whole number from 1 to ${max}`);
}
