import type { OverlayBody } from "../../kernel/faces/log.ts";
import type { ListedOverlay } from "../../kernel/faces/window.ts";
import {
  type Entry,
  type FittedWindow,
  LonghaulError,
  parseEntryId,
  type Session,
  type SessionId,
} from "../../kernel/index.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toOverlayJson } from "../context/context-json.ts";
import { citeEntry } from "../context/format-entry-excerpt.ts";
import { openDescribedWindow } from "../context/window-options.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { DAY, HOUR, MINUTE, parseLength, parseTime, SECOND, type TimeUnits } from "../terminal/times.ts";
import { formatTokenChange } from "../terminal/tokens.ts";
import { fitText } from "../terminal/width.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { describeEdit } from "../transcript/describe-edit.ts";
import { UsageError } from "../usage-error.ts";

const MAX_LISTED = 1_000;

const OPTIONS = {
  edit: { type: "string", value: "N", help: "revert only this edit of a plan; --list shows the numbers" },
  to: {
    type: "string",
    value: "TIME",
    help: "revert all edits made after this time: 30m or 2h ago, or an ISO time",
  },
  list: { type: "boolean", help: "list the overlays and their state, or the edits of one overlay" },
} as const;

type RevertOptions = ParsedArguments<typeof OPTIONS>["options"];

/** Reverts edits of the window. */
export const revertCommand = defineCommand({
  name: "revert",
  summary: "revert edits of the window",
  usage: [
    "revert <session> [overlay] [--edit N]",
    "revert <session> --to TIME",
    "revert <session> [overlay] --list",
  ],
  about:
    "Without an overlay, it reverts the newest edit in force that took something out of the window. What comes back stays until the limit forces it out; reverting the revert releases it.",
  options: OPTIONS,
  maxOperands: 2,
  examples: [
    "longhaul revert ticket-4711",
    "longhaul revert ticket-4711 212 --edit 0",
    "longhaul revert ticket-4711 --to 2h",
    "longhaul revert ticket-4711 --list",
  ],
  async run(context, { operands: [wanted, which], options }) {
    if (wanted === undefined) throw new UsageError('name a session; "longhaul sessions" lists them');
    checkOptionConflicts(options, which);
    const edit = options.edit === undefined ? {} : { edit: parseEditOption(options.edit) };
    const to = options.to === undefined ? undefined : parseMoment("to", options.to, Date.now());
    await using kernel = await openExistingStore(context, options);
    await using session = await kernel.session(
      await findSession(kernel, wanted, getSessionScope(context, options)),
    );
    const { overlays } = session;
    const listed = await overlays.list(MAX_LISTED);
    const named = which === undefined ? undefined : findOverlay(session, listed, which);
    if (options.list) {
      await printList(context, options, { session: session.id, listed, named });
      return EXIT.fine;
    }
    const target = to === undefined ? (named ?? (await findNewestOverlay(session))) : undefined;
    if (target) checkInForce(session, target);
    const reverted = await measureRevert(session, async () => {
      if (to !== undefined) return overlays.revertTo(to);
      return target && overlays.revert(target.entry.seq, { session: target.entry.session, ...edit });
    });
    if (options.json) await printJson(context, toRevertJson(reverted));
    else {
      const lines = renderRevertEffect(reverted, options.quiet === true);
      await printLines(
        context,
        lines.flatMap((line) => wrapText(line, context.columns.stdout)),
      );
    }
    return EXIT.fine;
  },
});

async function printList(
  context: CliContext,
  options: RevertOptions,
  {
    session,
    listed,
    named,
  }: {
    readonly session: SessionId;
    readonly listed: readonly ListedOverlay[];
    readonly named: ListedOverlay | undefined;
  },
): Promise<void> {
  const shown = named ? [named] : listed;
  if (options.json) {
    const overlays = shown.map(({ entry, isHolding }) => ({ ...toOverlayJson(entry), isHolding }));
    await printJson(context, { overlays });
    return;
  }
  const width = context.columns.stdout;
  const lines = named
    ? renderEdits(named, width)
    : renderOverlayTable(listed, session, { width, paint: choosePaint(context, options) });
  await printLines(context, lines);
}

function parseEditOption(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--edit is ${JSON.stringify(text)}; expected the number of an edit, 0 or more`);
}

/** Refuses options that contradict each other. */
function checkOptionConflicts({ to, edit, list }: RevertOptions, which: string | undefined): void {
  if (to !== undefined && which !== undefined)
    throw new UsageError("--to cannot be combined with an overlay");
  if (to !== undefined && edit !== undefined) throw new UsageError("--to and --edit cannot be combined");
  if (list && to !== undefined) throw new UsageError("--list and --to cannot be combined");
  if (list && edit !== undefined) throw new UsageError("--list and --edit cannot be combined");
}

/** Finds a listed overlay by number or id; throws ENTRY_NOT_FOUND with a hint to the list. */
function findOverlay(session: Session, listed: readonly ListedOverlay[], which: string): ListedOverlay {
  const number = /^#?(\d+)$/.exec(which)?.[1];
  const place = number === undefined ? parseEntryId(which) : { session: session.id, seq: Number(number) };
  const found = listed.find(({ entry }) => entry.seq === place.seq && entry.session === place.session);
  if (found) return found;
  throw createNotFoundError(
    session,
    `There is no overlay ${which} on the line of ${session.id}; ${formatListHint(session)}`,
  );
}

/**
 * Returns the newest edit in force that a person would mean by "the last edit": one that removed something, or else the
 * newest of any kind, but no revert. Throws ENTRY_NOT_FOUND if there is none.
 */
async function findNewestOverlay(session: Session): Promise<ListedOverlay> {
  const found = await session.overlays.findLastEdit();
  if (found) return found;
  throw createNotFoundError(session, `There is nothing to revert: ${session.id} has no overlay in force.`);
}

/** Throws ENTRY_NOT_FOUND unless the overlay is in force. */
function checkInForce(session: Session, { entry, isHolding }: ListedOverlay): void {
  if (isHolding) return;
  throw createNotFoundError(
    session,
    `Overlay #${entry.seq} is no longer in force; ${formatListHint(session)}`,
  );
}

function formatListHint({ id }: Session): string {
  return `"longhaul revert ${quoteShellWord(id)} --list" lists them.`;
}

function createNotFoundError({ id }: Session, message: string): LonghaulError {
  return new LonghaulError("ENTRY_NOT_FOUND", message, { details: { session: id } });
}

const COLUMNS: readonly Column[] = [
  { title: "overlay", look: "cyan", shrinks: "last" },
  { title: "created", shrinks: "last" },
  { title: "edit", shrinks: "first" },
  { title: "window", shrinks: "last" },
  { title: "" },
];

/** Formats overlays as a table, newest first, with their standing. */
function renderOverlayTable(
  listed: readonly ListedOverlay[],
  session: SessionId,
  look: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  if (listed.length === 0) return ["No overlays: the window matches the log."];
  const rows = listed.map(({ entry }, index) => [
    citeEntry(entry, session),
    formatTime(entry.madeAt ?? entry.at),
    `${entry.author} ${describeEdit(entry.edit)} (${entry.reason})`,
    entry.tokensBefore === undefined || entry.tokensAfter === undefined
      ? ""
      : formatTokenChange(entry.tokensBefore, entry.tokensAfter),
    describeStanding(index, listed),
  ]);
  return renderTable(COLUMNS, rows, look);
}

/** Lists the edits of one overlay with the numbers that --edit takes. */
function renderEdits({ entry: { edit } }: ListedOverlay, columns: number): readonly string[] {
  const edits = edit.type === "plan" ? edit.edits : [];
  if (edits.length === 0) return ["This overlay is a single edit."];
  return edits.map((one, index) => fitText(escapeLine(`--edit ${index}  ${describeEdit(one)}`), columns));
}

/** Tells whether the overlay at `index` is in force, and if not, why; `listed` is ordered newest first. */
function describeStanding(index: number, listed: readonly ListedOverlay[]): string {
  const { entry, isHolding } = listed[index] as ListedOverlay;
  if (isHolding) return "in force";
  if (entry.edit.type === "revert") return "reverted";
  const rebuilt = listed.slice(0, index).find(isRebuilding);
  return rebuilt ? `replaced by #${rebuilt.entry.seq}` : "reverted";
}

function isRebuilding({ entry: { edit }, isHolding }: ListedOverlay): boolean {
  return isHolding && (edit.type === "plan" || edit.type === "summarize") && edit.isWhole === true;
}

/** Effect of a revert on the window. */
interface RevertEffect {
  readonly session: string;
  /** The new revert overlay; undefined if there was nothing to revert. */
  readonly by: Entry<OverlayBody> | undefined;
  readonly before: FittedWindow;
  readonly after: FittedWindow;
}

/** Runs `revert` and reads the window before and after it. */
async function measureRevert(
  session: Session,
  revert: () => Promise<Entry<OverlayBody> | undefined>,
): Promise<RevertEffect> {
  const { window } = await openDescribedWindow(session, {});
  const before = await window.look();
  const by = await revert();
  return { session: session.id, by, before, after: await window.look() };
}

/** Formats the effect of a revert for people. */
function renderRevertEffect(reverted: RevertEffect, isQuiet: boolean): readonly string[] {
  const { session, by, before, after } = reverted;
  if (!by) return ["No edits since then."];
  const messages = `${formatCount(before.messages.length)} → ${formatQuantity(after.messages.length, "message")}`;
  const size = `window: ${formatTokenChange(before.tokens, after.tokens)}, ${messages}`;
  const isOver = after.tokens > after.limits.most;
  const isHeld = findHeld(after, by) !== undefined;
  const limit = `over the limit of ${formatCount(after.limits.most)} tokens: the next call`;
  const over = isHeld
    ? `${limit} leaves content out, and what came back last`
    : `${limit} edits the window again`;
  const command = `longhaul revert ${quoteShellWord(session)} ${by.seq}`;
  return [
    `#${by.seq} ${describeEdit(by.edit)}`,
    isSame(reverted) ? "window: unchanged" : size,
    ...(isHeld ? ["held: what came back stays until the limit forces it out"] : []),
    ...(isReleased(reverted) ? ["released: what had come back may leave early again"] : []),
    ...(isOver ? [over] : []),
    ...(isQuiet ? [] : [`${isHeld ? "undo and release" : "undo"}: ${command}`]),
  ].map(escapeLine);
}

function findHeld({ held = [] }: FittedWindow, { session, seq }: Pick<Entry, "session" | "seq">) {
  return held.find(({ revert }) => revert.session === session && revert.seq === seq);
}

function isReleased({ by, before, after }: RevertEffect): boolean {
  if (by?.edit.type !== "revert") return false;
  const target = { session: by.edit.session ?? by.session, seq: by.edit.overlay };
  return findHeld(before, target) !== undefined && findHeld(after, target) === undefined;
}

/** Formats the effect of a revert as JSON. */
function toRevertJson(reverted: RevertEffect) {
  const { session, by, before, after } = reverted;
  return {
    session,
    by: by?.id ?? null,
    isChanged: !isSame(reverted),
    isHeld: by !== undefined && findHeld(after, by) !== undefined,
    tokens: { before: before.tokens, after: after.tokens },
    messages: { before: before.messages.length, after: after.messages.length },
  };
}

function isSame({ before, after }: RevertEffect): boolean {
  return JSON.stringify(before.messages) === JSON.stringify(after.messages);
}

const UNITS: TimeUnits = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Parses a moment: an age such as "30m" or "2h", or an ISO time; a time without a zone is local. */
export function parseMoment(option: string, text: string, now: number): number {
  const age = parseLength(text.replace(/\s+ago\s*$/i, ""), UNITS);
  const time = age === undefined ? parseTime(text) : now - age;
  if (time !== undefined) return time;
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; expected a duration such as 30m or 2h, or a time such as 2026-01-01T12:00`,
  );
}
