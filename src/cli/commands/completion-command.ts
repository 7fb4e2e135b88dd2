import { type CliCommand, type CommandGroup, defineCommand } from "../cli-command.ts";
import { COMPLETION_SCRIPTS } from "../completion/completion-scripts.ts";
import { buildCompletionTable } from "../completion/completion-table.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTo } from "../printer.ts";
import { UsageError } from "../usage-error.ts";

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
