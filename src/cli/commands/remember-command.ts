import { text as readAll } from "node:stream/consumers";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { parseValidity } from "../memory/parse-memory-options.ts";
import { openStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { UsageError } from "../usage-error.ts";
import { fitText } from "../width.ts";

/** Stores a memory for an agent. */
export const rememberCommand = defineCommand({
  name: "remember",
  summary: "store a memory for an agent",
  usage: ["remember <text> [options]"],
  about:
    'Every call shows an agent its ten most recent memories; recall finds all of them. "-" reads the text from standard input. Mark text that an agent writes by itself with --by agent, and words of others with --by quoted: they count as notes, not as your instructions. A value that you forgot or rejected is refused from agents; remembering it yourself makes it welcome again.',
  options: {
    agent: { type: "string", value: "NAME", help: 'agent that owns the memory (default: "default")' },
    by: { type: "string", value: "WHO", help: "origin of the memory: user, agent or quoted (default: user)" },
    from: { type: "string", value: "DATE", help: "the memory holds from this date on" },
    until: { type: "string", value: "DATE", help: "the memory holds until this date" },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    'longhaul remember "Answer in German."',
    'longhaul remember --agent support "Refunds above 500 euros need a second signature."',
    'longhaul remember --until 2026-12-31 "Deploys are frozen."',
    "pbpaste | longhaul remember -",
  ],
  async run(context, { operands, options }) {
    const by = options.by ?? "user";
    if (by !== "user" && by !== "agent" && by !== "quoted")
      throw new UsageError(`--by is ${JSON.stringify(by)}; expected user, agent or quoted`);
    const dates = parseValidity({
      ...(options.from !== undefined && { from: options.from }),
      ...(options.until !== undefined && { until: options.until }),
    });
    const isInput = operands.length === 1 && operands[0] === "-";
    const text = isInput ? await readAll(context.stdin) : operands.join(" ");
    if (text.trim() === "") throw new UsageError("the text to remember is empty");
    await using kernel = await openStore(context, options);
    const memory = await kernel.memories(options.agent).remember(text, { by, ...dates });
    if (!memory) throw new UsageError("the text to remember is empty");
    if (options.json) await printTo(context.stdout, `${toSafeJson({ memory })}\n`);
    else if (!options.quiet)
      await printTo(
        context.stdout,
        `Remembered ${escapeLine(memory.id)}: ${fitText(escapeLine(memory.text), 60)}\n`,
      );
    return EXIT.fine;
  },
});
