import type { Kernel, RememberedFact } from "../../index.ts";
import { parseEntryId } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { buildMemoryFilter, parseValidity } from "../memory/parse-memory-options.ts";
import { renderHistory, renderMemories } from "../memory/render-memories.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { UsageError } from "../usage-error.ts";
import { fitText } from "../width.ts";

const LIMIT = { otherwise: 50, max: 10_000 };
const MEMORY_PREFIX = "memory:";

const OPTIONS = {
  agent: { type: "string", value: "NAME", help: 'agent that owns the memories (default: "default")' },
  limit: { type: "string", value: "N", help: `maximum memories to list (default: ${LIMIT.otherwise})` },
  all: { type: "boolean", help: "include rejected memories and those outside their dates" },
  trust: {
    type: "string",
    value: "LEVEL",
    help: "list only memories with this trust or more: user, agent, quoted, rejected (default: quoted)",
  },
  review: { type: "boolean", help: "list only notes of agents that you have not accepted or rejected" },
  history: { type: "boolean", help: "list every change to the memories, newest first" },
  accept: { type: "boolean", help: "accept the named memories: they count as yours" },
  reject: { type: "boolean", help: "reject the named memories: they are not shown and not recalled" },
  from: { type: "string", value: "DATE", help: "the named memories hold from this date on" },
  until: { type: "string", value: "DATE", help: "the named memories hold until this date" },
  top: { type: "boolean", help: "move the named memory before all others; the first ones are pinned" },
  above: { type: "string", value: "MEMORY", help: "move the named memory directly above this one" },
  below: { type: "string", value: "MEMORY", help: "move the named memory directly below this one" },
} as const;

type MemoriesValues = ParsedArguments<typeof OPTIONS>["options"];

/** Lists and reviews an agent's memories. */
export const memoriesCommand = defineCommand({
  name: "memories",
  summary: "list and review the memories of an agent, newest first",
  usage: [
    "memories [options]",
    "memories --review",
    "memories <memory>… --accept | --reject",
    "memories <memory>… [--from DATE] [--until DATE]",
    "memories <memory> --top | --above MEMORY | --below MEMORY",
  ],
  about:
    "Notes of agents are used at once; --review lists those that you have not judged. Agents cannot save a rejected or forgotten value again; you can, with longhaul remember. --from and --until set the dates of a memory; the one that is absent is removed.",
  options: OPTIONS,
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul memories",
    "longhaul memories --review",
    "longhaul memories memory:default#3 --reject",
    "longhaul memories --agent support --history --json",
  ],
  async run(context, { operands, options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    const change = chooseChange(options);
    if (operands.length > 0 && !change)
      throw new UsageError(
        "say what to do with the memories: --accept, --reject, --from, --until, --top, --above or --below",
      );
    const isMove = options.top || options.above !== undefined || options.below !== undefined;
    if (isMove && operands.length > 1) throw new UsageError("name one memory to move");
    if (operands.length === 0 && change) throw new UsageError("name a memory, as memory:default#3");
    if (options.all && options.trust !== undefined)
      throw new UsageError("--all and --trust cannot be combined");
    const filter = buildMemoryFilter(options.all ? "rejected" : options.trust, options.all === true);
    await using kernel = await openExistingStore(context, options);
    if (change) return await changeMemories(context, options, kernel, operands, change);
    const memories = kernel.memories(options.agent);
    const shape = { now: Date.now(), width: context.columns.stdout, paint: choosePaint(context, options) };
    if (options.history) {
      const history = await memories.history({ limit });
      const none = `${escapeLine(memories.agent)} has never had a memory.`;
      await print(context, options, { agent: memories.agent, history }, () =>
        history.length > 0 ? renderHistory(history, shape) : [none],
      );
      return EXIT.fine;
    }
    const pins = new Set((await memories.pins()).map(({ id }) => id));
    const query = {
      limit,
      ...filter,
      ...(options.review && { isUnreviewed: true, validAt: "ever" as const }),
    };
    const listed = (await memories.list(query)).map((one) => ({ ...one, isPinned: pins.has(one.id) }));
    const none = options.review ? "has no memories to review" : "has no memories";
    await print(context, options, { agent: memories.agent, memories: listed }, () =>
      listed.length > 0 ? renderMemories(listed, shape) : [`${escapeLine(memories.agent)} ${none}.`],
    );
    return EXIT.fine;
  },
});

interface MemoryEdit {
  readonly words: string;
  readonly apply: (memories: ReturnType<Kernel["memories"]>, id: string) => Promise<RememberedFact>;
}

function chooseChange(options: MemoriesValues): MemoryEdit | undefined {
  const { accept, reject, from, until, top, above, below } = options;
  const hasDates = from !== undefined || until !== undefined;
  const places = [top === true, above !== undefined, below !== undefined];
  if ([accept === true, reject === true, hasDates, ...places].filter(Boolean).length > 1)
    throw new UsageError("--accept, --reject, dates, --top, --above and --below cannot be combined");
  if (places.includes(true))
    return {
      words: "Moved",
      apply: (memories, id) => {
        const other = above ?? below;
        if (other === undefined) return memories.move(id, "top");
        const neighbor = toMemoryId(memories, other);
        return memories.move(id, above === undefined ? { below: neighbor } : { above: neighbor });
      },
    };
  if (accept) return { words: "Accepted", apply: (memories, id) => memories.review(id, "accepted") };
  if (reject) return { words: "Rejected", apply: (memories, id) => memories.review(id, "rejected") };
  if (!hasDates) return undefined;
  const dates = parseValidity({
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
  });
  return { words: "Dated", apply: (memories, id) => memories.setValidity(id, dates) };
}

/** An id, from itself or from a number. */
function toMemoryId({ session }: { readonly session: string }, name: string): string {
  const number = /^#?(\d+)$/.exec(name)?.[1];
  return number === undefined ? name : `${session}#${number}`;
}

async function changeMemories(
  context: CliContext,
  options: MemoriesValues,
  kernel: Kernel,
  operands: readonly string[],
  { words, apply }: MemoryEdit,
): Promise<number> {
  const changed: RememberedFact[] = [];
  for (const operand of operands) {
    const id = toMemoryId(kernel.memories(options.agent), operand);
    const { session } = parseEntryId(id);
    if (!session.startsWith(MEMORY_PREFIX))
      throw new UsageError(`${id} is no memory; "longhaul memories" lists them`);
    changed.push(await apply(kernel.memories(session.slice(MEMORY_PREFIX.length)), id));
  }
  if (options.json) await printTo(context.stdout, `${toSafeJson({ changed })}\n`);
  else if (!options.quiet) {
    const lines = changed.map(
      ({ id, text }) => `${words} ${escapeLine(id)}: ${fitText(escapeLine(text), 60)}\n`,
    );
    await printTo(context.stdout, lines.join(""));
  }
  return EXIT.fine;
}

async function print(
  context: CliContext,
  options: MemoriesValues,
  value: Readonly<Record<string, unknown>>,
  render: () => readonly string[],
): Promise<void> {
  if (options.json) await printTo(context.stdout, `${toSafeJson(value)}\n`);
  else await printLines(context, render());
}
