import { text as readAll } from "node:stream/consumers";
import { defineCommand } from "../command.ts";
import { escapeLine, safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTo } from "../printer.ts";
import { openStore } from "../store.ts";
import { UsageError } from "../usage-error.ts";
import { fitTo } from "../width.ts";

/** Stores a memory for an agent. */
export const rememberCommand = defineCommand({
  name: "remember",
  summary: "have an agent remember something",
  usage: ["remember <text> [options]"],
  about:
    'The most recent ten memories of an agent are shown to it in every call; recall finds all of them. "-" reads the text\nfrom the input. What an agent writes by itself is to be marked with --by agent: it counts as a note, not as your wish.',
  options: {
    agent: { type: "string", value: "NAME", help: "whose memory (default)" },
    by: { type: "string", value: "WHO", help: "whose act it is: user (unless given) or agent" },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    'longhaul remember "Answer in German."',
    'longhaul remember --agent support "Refunds above 500 euros need a second signature."',
    "pbpaste | longhaul remember -",
  ],
  async run(context, { operands, options }) {
    const by = options.by ?? "user";
    if (by !== "user" && by !== "agent")
      throw new UsageError(`--by is ${JSON.stringify(by)}; expected user or agent`);
    const isInput = operands.length === 1 && operands[0] === "-";
    const text = isInput ? await readAll(context.stdin) : operands.join(" ");
    if (text.trim() === "") throw new UsageError("there is nothing to remember");
    await using kernel = await openStore(context, options);
    const memory = await kernel.memories(options.agent).remember(text, { by });
    if (!memory) throw new UsageError("there is nothing to remember");
    if (options.json) await printTo(context.stdout, `${safeJson({ memory })}\n`);
    else if (!options.quiet)
      await printTo(
        context.stdout,
        `${escapeLine(memory.id)} remembered: ${fitTo(escapeLine(memory.text), 60)}\n`,
      );
    return EXIT.fine;
  },
});
