import { text as readAll } from "node:stream/consumers";
import type { MemoryEvent, Validity } from "../../kernel/faces/memory.ts";
import { type Kernel, parseEntryId, type StoredMemory } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findMemoryOwner } from "../../model/session-key.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { buildMemoryFilter, parseValidity } from "../memory/parse-memory-options.ts";
import { openExistingStore, openStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatAgo, formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printDone, printJson, printResult } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { fitText } from "../terminal/width.ts";
import { UsageError } from "../usage-error.ts";

const LIMIT = { otherwise: 50, max: 10_000 };

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
  readonly apply: (memories: ReturnType<Kernel["memories"]>, id: string) => Promise<StoredMemory>;
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
  const dates = parseValidity(dropUndefined({ from, until }));
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
  const changed: StoredMemory[] = [];
  for (const operand of operands) {
    const id = toMemoryId(kernel.memories(options.agent), operand);
    const { session } = parseEntryId(id);
    const owner = findMemoryOwner(session);
    if (owner === undefined) throw new UsageError(`${id} is no memory; "longhaul memories" lists them`);
    changed.push(await apply(kernel.memories(owner), id));
  }
  if (options.json) await printJson(context, { changed });
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
  await printResult(
    context,
    options,
    () => value,
    () => render(),
  );
}

/** A memory in a list. */
type ListedMemory = StoredMemory & { readonly isPinned: boolean };

interface TableOptions {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
}

const VALID: Column = { title: "valid" };

/** Builds the table of memories; the dates have a column only if there are any. */
function renderMemories(memories: readonly ListedMemory[], options: TableOptions): readonly string[] {
  const hasDates = memories.some(({ from, until }) => from !== undefined || until !== undefined);
  const columns: readonly Column[] = [
    { title: "memory", look: "cyan" },
    { title: "by" },
    { title: "when" },
    { title: "pin" },
    ...(hasDates ? [VALID] : []),
    { title: "text", shrinks: "first" },
  ];
  const rows = memories.map((memory) => [
    memory.id,
    describeOrigin(memory),
    formatAgo(memory.at, options.now),
    memory.isPinned ? "pin" : "",
    ...(hasDates ? [describeValidity(memory)] : []),
    memory.text,
  ]);
  return renderTable(columns, rows, options);
}

/** Builds the table of changes. */
function renderHistory(history: readonly MemoryEvent[], options: TableOptions): readonly string[] {
  const columns: readonly Column[] = [
    { title: "when" },
    { title: "change" },
    { title: "by" },
    { title: "memory", look: "cyan" },
    { title: "text", shrinks: "first" },
  ];
  const rows = history.map((event) => [
    formatTime(event.at),
    [event.change, describeValidity(event)].filter((word) => word !== "").join(" "),
    event.by ?? "",
    event.memory ?? "",
    event.text ??
      (event.change === "restored" ? "a forgotten or rejected value may be saved again" : "(erased)"),
  ]);
  return renderTable(columns, rows, options);
}

function describeOrigin({ by, trust }: StoredMemory): string {
  if (trust === "rejected") return `${by}, rejected`;
  return trust === by ? by : `${by}, accepted`;
}

function describeValidity({ from, until }: Validity): string {
  const words = [
    ...(from === undefined ? [] : [`from ${formatDate(from)}`]),
    ...(until === undefined ? [] : [`until ${formatDate(until)}`]),
  ];
  return words.join(" ");
}

/** A local day, with the time if it is not midnight. */
function formatDate(at: number): string {
  const text = formatTime(at);
  return text.endsWith(" 00:00:00") ? text.slice(0, 10) : text.slice(0, 16);
}

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
    const dates = parseValidity(dropUndefined({ from: options.from, until: options.until }));
    const isInput = operands.length === 1 && operands[0] === "-";
    const text = isInput ? await readAll(context.stdin) : operands.join(" ");
    if (text.trim() === "") throw new UsageError("the text to remember is empty");
    await using kernel = await openStore(context, options);
    const memory = await kernel.memories(options.agent).remember(text, { by, ...dates });
    if (!memory) throw new UsageError("the text to remember is empty");
    await printDone(
      context,
      options,
      () => ({ memory }),
      () => [`Remembered ${escapeLine(memory.id)}: ${fitText(escapeLine(memory.text), 60)}`],
    );
    return EXIT.fine;
  },
});
