import { dropUndefined } from "../../model/base/drop-undefined.ts";
import {
  type CliCommand,
  COMMON_OPTIONS,
  type CommandGroup,
  defineCommand,
  isCommandGroup,
  type OptionSpecs,
} from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

/** Writes the script of one shell. */
type WriteScript = (table: readonly CompletedCommand[]) => string;

/** The scripts by the name of their shell. */
const COMPLETION_SCRIPTS: Readonly<Record<string, WriteScript>> = {
  bash: writeBashScript,
  zsh: writeZshScript,
  fish: writeFishScript,
};

function writeBashScript(table: readonly CompletedCommand[]): string {
  const top = table.filter(({ words }) => words.length === 1);
  const groups = top.filter(({ members }) => members.length > 0);
  const cases = table.map(({ words, options, members }) => {
    const fields = [
      `options="${options.flatMap(listSpellings).join(" ")}"`,
      `paths=" ${listValued(options, "path")} "`,
      `texts=" ${listValued(options, "text")} "`,
      ...(members.length > 0 ? [`members="${members.map(({ name }) => name).join(" ")}"`] : []),
    ];
    return `    "${words.join(" ")}") ${fields.join("; ")} ;;`;
  });
  const valued = [
    ...new Set(table.flatMap(({ options }) => options.filter(({ value }) => value).flatMap(listSpellings))),
  ];
  return `# Completion of longhaul for bash.
_longhaul() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local valued=" ${valued.join(" ")} " command="" member="" options="" paths=" " texts=" " members="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      --) return ;;
      -*) ;;
      *)
        [[ "$valued" == *" \${COMP_WORDS[i-1]} "* ]] && continue
        if [[ -z "$command" ]]; then command="\${COMP_WORDS[i]}"
        elif [[ -z "$member" ]]; then member="\${COMP_WORDS[i]}"; fi ;;
    esac
  done
  local key="$command"
  case "$command" in ${groups.map(({ words }) => words[0]).join("|")}) [[ -n "$member" ]] && key="$command $member" ;; esac
  case "$key" in
${cases.join("\n")}
    ""|help) members="${top.map(({ words }) => words[0]).join(" ")} help"; options="--help --version --store --json --quiet --no-color"; paths=" --store " ;;
  esac
  COMPREPLY=()
  if [[ "$paths" == *" $previous "* ]]; then
    COMPREPLY=($(compgen -f -- "$word"))
  elif [[ "$texts" == *" $previous "* ]]; then
    compopt +o default +o bashdefault 2>/dev/null
  elif [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n "$members" ]]; then
    COMPREPLY=($(compgen -W "$members" -- "$word"))
  fi
}
complete -o bashdefault -o default -F _longhaul longhaul
`;
}

function writeZshScript(table: readonly CompletedCommand[]): string {
  const top = table.filter(({ words }) => words.length === 1);
  const describe = (things: readonly { readonly name: string; readonly summary: string }[]) =>
    things
      .map(({ name, summary }) => `      ${quoteZsh(`${name}:${summary.replaceAll(":", "\\:")}`)}`)
      .join("\n");
  const cases = table
    .filter(({ members }) => members.length === 0)
    .map(
      ({ words, options }) =>
        `    (${quoteZsh(words.join(" "))}) _arguments ${options.flatMap(writeZshOption).join(" ")} '*:file:_files' ;;`,
    );
  const groups = top
    .filter(({ members }) => members.length > 0)
    .map(
      ({ words: [name = ""], members }) => `    (${name})
      local -a members=(
${describe(members)}
      )
      if (( CURRENT == 3 )); then _describe -t commands '${name} command' members; return; fi
      key="${name} $words[3]"
      shift words; (( CURRENT-- )) ;;`,
    );
  return `#compdef longhaul
# Completion of longhaul for zsh.
_longhaul() {
  local key="$words[2]"
  if (( CURRENT == 2 )); then
    local -a commands=(
${describe(top.map(({ words, summary }) => ({ name: words[0] as string, summary })))}
      'help:show the options of a command'
    )
    _describe -t commands 'longhaul command' commands
    return
  fi
  case "$key" in
${groups.join("\n")}
  esac
  shift words; (( CURRENT-- ))
  case "$key" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_longhaul" ]; then _longhaul "$@"; else compdef _longhaul longhaul; fi
`;
}

function writeZshOption({ name, short, help, value }: CompletedOption): readonly string[] {
  const text = help.replace(/[[\]:\\]/g, "\\$&");
  const action = value === undefined ? "" : `:value:${value === "path" ? "_files" : " "}`;
  const spellings = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return spellings.map((spelling) => quoteZsh(`${spelling}[${text}]${action}`));
}

function writeFishScript(table: readonly CompletedCommand[]): string {
  const lines = table.flatMap(({ words, summary, options, members }) => {
    const [name = "", member] = words;
    const condition = member === undefined ? `__longhaul_at ${name}` : `__longhaul_at ${name} ${member}`;
    const begin =
      member === undefined
        ? [`complete -c longhaul -f -n __longhaul_at_start -a ${name} -d ${quoteFish(summary)}`]
        : [];
    const inner = members.map(
      ({ name: word, summary: about }) =>
        `complete -c longhaul -f -n '__longhaul_at ${name}; and not __longhaul_has_member ${name}' -a ${word} -d ${quoteFish(about)}`,
    );
    const isGroup = members.length > 0;
    const given = options.map(({ name: option, short, help, value }) => {
      const form = value === "path" ? "-r -F" : value === "text" ? "-x" : "";
      return `complete -c longhaul -n '${condition}' -l ${option} ${short === undefined ? "" : `-s ${short}`} ${form} -d ${quoteFish(help)}`.replace(
        / +/g,
        " ",
      );
    });
    return [...begin, ...inner, ...(isGroup ? [] : given)];
  });
  return `# Completion of longhaul for fish.
function __longhaul_words
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or echo $word
  end
end
function __longhaul_at_start
  test (count (__longhaul_words)) -eq 0
end
function __longhaul_at
  set -l words (__longhaul_words)
  test (count $words) -ge (count $argv); or return 1
  for i in (seq (count $argv))
    test "$words[$i]" = "$argv[$i]"; or return 1
  end
end
function __longhaul_has_member
  test (count (__longhaul_words)) -ge 2
end
${lines.join("\n")}
`;
}

function listSpellings({ name, short }: CompletedOption): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

function listValued(options: readonly CompletedOption[], value: "path" | "text"): string {
  return options
    .filter((option) => option.value === value)
    .flatMap(listSpellings)
    .join(" ");
}

function quoteZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

type CommandTable = Readonly<Record<string, () => Promise<CliCommand | CommandGroup>>>;

const SHELLS = Object.keys(COMPLETION_SCRIPTS);

/** The command that prints the completion script of a shell, from the table of commands. */
export const createCompletionCommand = (commands: CommandTable) =>
  defineCommand({
    name: "completion",
    summary: `print the completion script for ${SHELLS.join(", ")}`,
    usage: [`completion <${SHELLS.join("|")}>`],
    about:
      'bash: longhaul completion bash > ~/.local/share/bash-completion/completions/longhaul. zsh: longhaul completion zsh > a folder of $fpath, as "_longhaul". fish: longhaul completion fish > ~/.config/fish/completions/longhaul.fish.',
    options: {},
    maxOperands: 1,
    examples: ["source <(longhaul completion bash)", "longhaul completion fish | source"],
    async run(context, { operands, options }) {
      const [shell = ""] = operands;
      const write = Object.hasOwn(COMPLETION_SCRIPTS, shell) ? COMPLETION_SCRIPTS[shell] : undefined;
      if (!write) throw new UsageError(`name a shell: ${SHELLS.join(", ")}`);
      const script = write(await buildCompletionTable(commands));
      await printTo(context.stdout, options.json ? `${toSafeJson({ shell, script })}\n` : script);
      return EXIT.fine;
    },
  });

/** An option as shells complete it. */
interface CompletedOption {
  readonly name: string;
  readonly short?: string;
  readonly help: string;
  /** "path" completes files and folders; "text" completes nothing; undefined for an option without a value. */
  readonly value?: "path" | "text";
}

/** A command as shells complete it: one word, or two for a member of a group. */
interface CompletedCommand {
  readonly words: readonly string[];
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** The words after the name of a group, with their summaries. */
  readonly members: readonly { readonly name: string; readonly summary: string }[];
}

const PATH_VALUES = /PATH|FILE|FOLDER|DIR/;

/** Lists all commands with their options; hidden ones are left out. */
async function buildCompletionTable(
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
    ...dropUndefined({ short: spec.short }),
    help: spec.help,
    ...(spec.type === "string" && { value: PATH_VALUES.test(spec.value ?? "") ? "path" : "text" }),
  }));
}
