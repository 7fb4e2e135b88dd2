import type { Entry, EntryKind, Kernel, Session } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { formatTime } from "../terminal/format-time.ts";
import { createPagedPrinter } from "../terminal/paged-printer.ts";
import type { Paint } from "../terminal/paint.ts";
import { createPlainPrinter, type Printer } from "../terminal/printer.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { TranscriptFormatter } from "../transcript/transcript-formatter.ts";
import { UsageError } from "../usage-error.ts";

const LIMIT = { otherwise: 50, max: 1_000 };
const MESSAGES: readonly EntryKind[] = ["message", "notice", "redacted", "damaged"];
const ASIDES: readonly EntryKind[] = ["usage", "overlay", "pin", "line"];

const OPTIONS = {
  limit: { type: "string", value: "N", help: `maximum entries to show (default: ${LIMIT.otherwise})` },
  all: { type: "boolean", help: "show the whole conversation" },
  before: { type: "string", value: "CURSOR", help: "show entries older than an earlier page" },
  around: { type: "string", value: "ENTRY", help: "show the entries around this one, by its number or id" },
  expand: {
    type: "string",
    value: "ENTRY",
    help: "show the entries that a summary or an edit replaced, by its number or id",
  },
  follow: { type: "boolean", short: "f", help: "keep printing new entries until Ctrl-C" },
  full: { type: "boolean", help: "show tool results and large parts in full" },
  raw: { type: "boolean", help: "also show foreign records that have no meaning in longhaul, verbatim" },
  ...PERSON_OPTION,
} as const;

type ShowOptions = ParsedArguments<typeof OPTIONS>["options"];

export const showCommand = defineCommand({
  name: "show",
  summary: "show a conversation",
  usage: ["show <session> [options]"],
  about:
    'Name a session by its number in the last listing, as "last", by its id, or by any unique beginning or end of it.',
  options: OPTIONS,
  maxOperands: 1,
  examples: [
    "longhaul show ticket-4711",
    "longhaul show ticket-4711 --all --full",
    "longhaul show ticket-4711 --around 40 --limit 10",
    "longhaul show ticket-4711 --expand 212",
    "longhaul show ticket-4711 --follow --json",
  ],
  async run(context, { operands: [wanted], options }) {
    if (wanted === undefined) throw new UsageError('name a session; "longhaul sessions" lists them');
    checkOptionConflicts(options);
    await using kernel = await openExistingStore(context, options);
    await using session = await kernel.session(
      await findSession(kernel, wanted, await findSessionScope(kernel, context, options)),
    );
    const isStreamed = options.json || options.follow;
    const printer = isStreamed
      ? createPlainPrinter(context.stdout, context.signal)
      : createPagedPrinter(context);
    let exitCode: number = EXIT.fine;
    const onDamage = (message: string) => {
      exitCode = EXIT.incomplete;
      context.stderr.write(`longhaul: ${escapeLine(message)}\n`);
    };
    try {
      const writer = options.json
        ? createJsonWriter(session, options)
        : createTextWriter({ context, options, kernel, session, onDamage });
      await printEntries({ session, options, printer, writer, signal: context.signal });
    } finally {
      await printer.close();
    }
    return exitCode;
  },
});

async function printEntries({
  session,
  options,
  printer,
  writer,
  signal,
}: {
  readonly session: Session;
  readonly options: ShowOptions;
  readonly printer: Printer;
  readonly writer: PageWriter;
  readonly signal: AbortSignal;
}): Promise<void> {
  const kinds = selectKinds(options);
  const head = await session.head();
  const { entries, before } = await selectEntries(session, options, kinds);
  await printer.print(await writer.head(before));
  let last = head.seq;
  for await (const entry of entries) {
    if (signal.aborted) break;
    await printer.print(await writer.entry(entry));
    if (entry.session === session.id) last = Math.max(last, entry.seq);
  }
  if (options.follow) {
    for await (const entry of session.tail({ after: head.seq, kinds, signal })) {
      // The page has already shown entries that were appended after the head was read.
      if (entry.seq > last) await printer.print(await writer.entry(entry));
    }
  }
  await printer.print(writer.foot);
}

async function selectEntries(
  session: Session,
  options: ShowOptions,
  kinds: readonly EntryKind[],
): Promise<{ readonly entries: Iterable<Entry> | AsyncIterable<Entry>; readonly before?: string }> {
  const { before, around, expand } = options;
  if (options.all) return { entries: session.entries({ kinds }) };
  if (expand !== undefined) return { entries: session.expand(parseEntryOption(expand)) };
  const limit = parseCountOption("limit", options.limit, LIMIT);
  return session.page({
    limit,
    kinds,
    ...dropUndefined({ before }),
    ...(around !== undefined && { around: parseEntryOption(around) }),
  });
}

function parseEntryOption(text: string): number | string {
  const number = /^#?(\d+)$/.exec(text)?.[1];
  return number === undefined ? text : Number(number);
}

function selectKinds({ quiet, raw }: ShowOptions): readonly EntryKind[] {
  return [...MESSAGES, ...(quiet ? [] : ASIDES), ...(raw ? (["raw"] as const) : [])];
}

function createJsonWriter(session: Session, { follow }: ShowOptions): PageWriter {
  return follow ? linesWriter : createDocumentWriter(session);
}

function createTextWriter({
  context,
  options,
  kernel,
  session,
  onDamage,
}: {
  readonly context: CliContext;
  readonly options: ShowOptions;
  readonly kernel: Kernel;
  readonly session: Session;
  readonly onDamage: (message: string) => void;
}): PageWriter {
  const paint = choosePaint(context, options);
  const transcript = new TranscriptFormatter({
    paint,
    columns: context.columns.stdout,
    isFull: options.full === true,
    isRaw: options.raw === true,
    blobs: kernel.blobs,
    onDamage,
  });
  return {
    head: async (before) => (options.quiet ? "" : renderTranscriptHeading(session, before, paint)),
    entry: (entry) => {
      if (entry.kind === "damaged") onDamage(`Entry ${entry.id} is damaged on disk. ${entry.problem}`);
      return transcript.formatEntry(entry);
    },
    foot: "",
  };
}

/** Refuses options that contradict each other. */
function checkOptionConflicts(options: ShowOptions): void {
  const contradictions: readonly (readonly [keyof ShowOptions, keyof ShowOptions])[] = [
    ["all", "limit"],
    ["all", "before"],
    ["all", "around"],
    ["before", "around"],
    ["expand", "all"],
    ["expand", "before"],
    ["expand", "around"],
    ["expand", "follow"],
    ["expand", "limit"],
    ["follow", "before"],
    ["follow", "around"],
  ];
  const found = contradictions.find(
    ([one, other]) => options[one] !== undefined && options[other] !== undefined,
  );
  if (found) throw new UsageError(`--${found[0]} and --${found[1]} cannot be combined`);
}

const SHOWN_CHILDREN = 20;

/** Builds the heading of a transcript: title, facts, children and the command for older entries. */
async function renderTranscriptHeading(
  session: Session,
  before: string | undefined,
  paint: Paint,
): Promise<string> {
  const { id, title, createdAt, parent, relation } = await session.record();
  const { seq } = await session.head();
  const facts = [
    ...(title === undefined ? [] : [id]),
    `started ${formatTime(createdAt)}`,
    formatQuantity(seq, "entry", "entries"),
  ];
  if (parent !== undefined) facts.push(`${relation} of ${parent}`);
  const dim = [facts.map(escapeLine).join("  ")];
  for (const child of await session.children({ limit: SHOWN_CHILDREN })) {
    dim.push(escapeLine(`${child.relation} ${child.id} ${child.title ?? ""}`));
  }
  if (before !== undefined)
    dim.push(escapeLine(`older: longhaul show ${quoteShellWord(id)} --before ${quoteShellWord(before)}`));
  const lines = [paint("bold", escapeLine(title ?? id)), ...dim.map((line) => paint("dim", line))];
  return lines.map((line) => `${line}\n`).join("");
}

/** Writes a page of a conversation: head, entries, foot. */
interface PageWriter {
  /** `before` is the cursor of the next older page. */
  head(before: string | undefined): Promise<string>;
  entry(entry: Entry): Promise<string>;
  readonly foot: string;
}

/** Writes one JSON document incrementally. */
function createDocumentWriter(session: Session): PageWriter {
  let separator = "";
  return {
    head: async (before) => {
      const facts = toSafeJson({ session: await session.record(), before });
      return `${facts.slice(0, -1)},"entries":[`;
    },
    entry: async (entry) => {
      const text = `${separator}\n${toSafeJson(entry)}`;
      separator = ",";
      return text;
    },
    foot: "\n]}\n",
  };
}

/** Writes JSON lines, one per entry. */
const linesWriter: PageWriter = {
  head: async () => "",
  entry: async (entry) => `${toSafeJson(entry)}\n`,
  foot: "",
};
