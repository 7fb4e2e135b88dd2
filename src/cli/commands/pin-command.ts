import { isOnLine, readPinnedEntries } from "../../kernel/calls/read-pinned-entries.ts";
import { type Entry, type Kernel, LonghaulError, type Session } from "../../kernel/index.ts";
import { type CliCommand, defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { citeEntry, formatEntryExcerpt } from "../context/format-entry-excerpt.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope, type SessionScope } from "../sessions/session-scope.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { UsageError } from "../usage-error.ts";

/** Pins a message, so it never leaves the window. */
export const pinCommand = createPinCommand(true);

/** Removes the pin of a message. */
export const unpinCommand = createPinCommand(false);

function createPinCommand(isPinned: boolean): CliCommand {
  const name = isPinned ? "pin" : "unpin";
  return defineCommand({
    name,
    summary: isPinned ? "keep a message in the window, unchanged" : "remove the pin from a message",
    usage: [`${name} <session> <entry>`],
    about: 'Name an entry by its number or id, as "longhaul show" prints it; "longhaul context" lists pins.',
    options: {},
    maxOperands: 2,
    examples: [`longhaul ${name} ticket-4711 40`, `longhaul ${name} ticket-4711 ticket-4711#40`],
    async run(context, { operands: [wanted, which], options }) {
      if (wanted === undefined) throw new UsageError('name a session; "longhaul sessions" lists them');
      if (which === undefined) throw new UsageError('name an entry; "longhaul show" lists their numbers');
      await using kernel = await openExistingStore(context, options);
      await using session = await openSession(kernel, wanted, getSessionScope(context, options));
      const entry = await findMessage(session, which);
      const isChanged = (await isPinnedNow(session, entry)) !== isPinned;
      if (isChanged) await (isPinned ? session.pin(entry.id) : session.unpin(entry.id));
      await printState(context, options, { session, entry, isPinned, isChanged });
      return EXIT.fine;
    },
  });
}

async function openSession(kernel: Kernel, wanted: string, scope: SessionScope): Promise<Session> {
  return kernel.session(await findSession(kernel, wanted, scope));
}

async function findMessage(session: Session, which: string): Promise<Entry> {
  const number = /^#?(\d+)$/.exec(which)?.[1];
  const entry = await session.entry(number === undefined ? which : Number(number));
  const see = `"longhaul show ${quoteShellWord(session.id)}" lists the entries.`;
  if (!entry) throw createNotFoundError(`There is no entry ${which} in ${session.id}; ${see}`, which);
  if (entry.kind !== "message")
    throw createNotFoundError(`Entry #${entry.seq} is of kind ${entry.kind}, not a message; ${see}`, which);
  if (await isOnLine(session, entry)) return entry;
  throw createNotFoundError(`Entry #${entry.seq} is not on the active line of ${session.id}; ${see}`, which);
}

function createNotFoundError(message: string, entry: string): LonghaulError {
  return new LonghaulError("ENTRY_NOT_FOUND", message, { details: { entry } });
}

async function isPinnedNow(session: Session, { id }: Entry): Promise<boolean> {
  return (await readPinnedEntries(session)).some((pinned) => pinned.id === id);
}

async function printState(
  { stdout }: CliContext,
  options: ParsedArguments["options"],
  {
    session,
    entry,
    isPinned,
    isChanged,
  }: {
    readonly session: Session;
    readonly entry: Entry;
    readonly isPinned: boolean;
    readonly isChanged: boolean;
  },
): Promise<void> {
  const state = `${isChanged ? "is now" : "was already"} ${isPinned ? "pinned" : "not pinned"}`;
  if (options.json) {
    const facts = { session: session.id, entry: entry.id, isPinned, isChanged };
    await printTo(stdout, `${toSafeJson(facts)}\n`);
  } else if (!options.quiet)
    await printTo(
      stdout,
      `${escapeLine(citeEntry(entry, session.id))} ${state}: ${formatEntryExcerpt(entry)}\n`,
    );
}
