import type { SessionId } from "../../index.ts";
import type { ListedOverlay } from "../../window-entry.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toOverlayJson } from "../context/context-json.ts";
import { checkInForce, findNewestOverlay, findOverlay } from "../context/find-overlay.ts";
import { parseMoment } from "../context/parse-moment.ts";
import { renderEdits, renderOverlayTable } from "../context/render-overlay-table.ts";
import { measureRevert, renderRevertEffect, toRevertJson } from "../context/revert-effect.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { UsageError } from "../usage-error.ts";
import { wrapText } from "../wrap-text.ts";

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
    if (options.json) await printTo(context.stdout, `${toSafeJson(toRevertJson(reverted))}\n`);
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
    await printTo(context.stdout, `${toSafeJson({ overlays })}\n`);
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
