import {
  type CliCommand,
  COMMON_OPTIONS,
  type CommandGroup,
  isCommandGroup,
  type OptionSpecs,
} from "../cli-command.ts";

/** An option as shells complete it. */
export interface CompletedOption {
  readonly name: string;
  readonly short?: string;
  readonly help: string;
  /** "path" completes files and folders; "text" completes nothing; undefined for an option without a value. */
  readonly value?: "path" | "text";
}

/** A command as shells complete it: one word, or two for a member of a group. */
export interface CompletedCommand {
  readonly words: readonly string[];
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** The words after the name of a group, with their summaries. */
  readonly members: readonly { readonly name: string; readonly summary: string }[];
}

const PATH_VALUES = /PATH|FILE|FOLDER|DIR/;

/** Lists all commands with their options; hidden ones are left out. */
export async function buildCompletionTable(
  commands: Readonly<Record<string, () => Promise<CliCommand | CommandGroup>>>,
): Promise<readonly CompletedCommand[]> {
  const table: CompletedCommand[] = [];
  for (const [name, load] of Object.entries(commands)) {
    const one = await load();
    if (!isCommandGroup(one)) {
      table.push(toCompleted([name], one));
      continue;
    }
    const words = Object.keys(one.commands).filter((word) => !one.hidden?.includes(word));
    const members = await Promise.all(
      words.map(async (word) =>
        toCompleted([name, word], await (one.commands[word] as () => Promise<CliCommand>)()),
      ),
    );
    const listed = members.map(({ words: both, summary }) => ({ name: both[1] as string, summary }));
    table.push({ words: [name], summary: one.summary, options: toOptions({}), members: listed }, ...members);
  }
  return table;
}

function toCompleted(words: readonly string[], command: CliCommand): CompletedCommand {
  return { words, summary: command.summary, options: toOptions(command.options), members: [] };
}

function toOptions(specs: OptionSpecs): readonly CompletedOption[] {
  return Object.entries({ ...specs, ...COMMON_OPTIONS } as OptionSpecs).map(([name, spec]) => ({
    name,
    ...(spec.short !== undefined && { short: spec.short }),
    help: spec.help,
    ...(spec.type === "string" && { value: PATH_VALUES.test(spec.value ?? "") ? "path" : "text" }),
  }));
}
