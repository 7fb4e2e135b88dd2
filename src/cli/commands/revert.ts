import type { ListedOverlay, SessionId } from "../../index.ts";
import { defineCommand, type Given } from "../command.ts";
import { overlayJson } from "../context/context-json.ts";
import { checkHolding, findOverlay, newestOverlay } from "../context/find-overlay.ts";
import { readMoment } from "../context/moment.ts";
import { editLines, overlayTable } from "../context/overlay-table.ts";
import { revertedJson, revertedLines, reverting } from "../context/reverting.ts";
import type { Context } from "../context.ts";
import { safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { paintFor } from "../look.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { openExistingStore } from "../store.ts";
import { UsageError } from "../usage-error.ts";
import { wrapTo } from "../wrap.ts";

const MOST_LISTED = 1_000;

const OPTIONS = {
  edit: { type: "string", value: "N", help: "revert only this edit of a plan; --list shows the numbers" },
  to: {
    type: "string",
    value: "TIME",
    help: "revert all edits made after this time: 30m or 2h ago, or an ISO time",
  },
  list: { type: "boolean", help: "list the overlays and their state, or the edits of one overlay" },
} as const;

type RevertOptions = Given<typeof OPTIONS>["options"];

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
    "Without an overlay, it reverts the newest one in force. A revert is an overlay too and can itself be reverted.",
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
    checkTogether(options, which);
    const edit = options.edit === undefined ? {} : { edit: editOption(options.edit) };
    const to = options.to === undefined ? undefined : readMoment("to", options.to, Date.now());
    await using kernel = await openExistingStore(context, options);
    await using session = await kernel.session(await findSession(kernel, wanted));
    const { overlays } = session;
    const listed = await overlays.list(MOST_LISTED);
    const named = which === undefined ? undefined : findOverlay(session, listed, which);
    if (options.list) {
      await printList(context, options, { session: session.id, listed, named });
      return EXIT.fine;
    }
    const target = to === undefined ? (named ?? newestOverlay(session, listed)) : undefined;
    if (target) checkHolding(session, target);
    const reverted = await reverting(session, async () => {
      if (to !== undefined) return overlays.revertTo(to);
      return target && overlays.revert(target.entry.seq, { session: target.entry.session, ...edit });
    });
    if (options.json) await printTo(context.stdout, `${safeJson(revertedJson(reverted))}\n`);
    else {
      const lines = revertedLines(reverted, options.quiet === true);
      await printLines(
        context,
        lines.flatMap((line) => wrapTo(line, context.columns.stdout)),
      );
    }
    return EXIT.fine;
  },
});

async function printList(
  context: Context,
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
    const overlays = shown.map(({ entry, isHolding }) => ({ ...overlayJson(entry), isHolding }));
    await printTo(context.stdout, `${safeJson({ overlays })}\n`);
    return;
  }
  const width = context.columns.stdout;
  const lines = named
    ? editLines(named, width)
    : overlayTable(listed, session, { width, paint: paintFor(context, options) });
  await printLines(context, lines);
}

function editOption(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--edit is ${JSON.stringify(text)}; expected the number of an edit, 0 or more`);
}

/** Refuses options that contradict each other. */
function checkTogether({ to, edit, list }: RevertOptions, which: string | undefined): void {
  if (to !== undefined && which !== undefined)
    throw new UsageError("--to cannot be combined with an overlay");
  if (to !== undefined && edit !== undefined) throw new UsageError("--to and --edit cannot be combined");
  if (list && to !== undefined) throw new UsageError("--list and --to cannot be combined");
  if (list && edit !== undefined) throw new UsageError("--list and --edit cannot be combined");
}
