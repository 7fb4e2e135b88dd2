import type { CompletedCommand, CompletedOption } from "./completion-table.ts";

/** Writes the script of one shell. */
type WriteScript = (table: readonly CompletedCommand[]) => string;

/** The scripts by the name of their shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<string, WriteScript>> = {
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
