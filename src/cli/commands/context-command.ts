import { defineCommand } from "../cli-command.ts";
import { toContextJson } from "../context/context-json.ts";
import { buildContextReport } from "../context/context-report.ts";
import { renderContext } from "../context/render-context.ts";
import { openDescribedWindow, WINDOW_OPTIONS } from "../context/window-options.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { UsageError } from "../usage-error.ts";

/** Shows the window of the next model call, its cost and its edits. */
export const contextCommand = defineCommand({
  name: "context",
  summary: "show the context window: its parts, its cost, its edits and their reasons",
  usage: ["context <session> [--model NAME] [--dry-run] [--diff] [options]"],
  about:
    "Shows the current window, built from the log and its overlays. A receipt gives each figure without the edit → with it.",
  options: {
    ...WINDOW_OPTIONS,
    "dry-run": { type: "boolean", help: "also show the edits for the next call; change nothing" },
    diff: {
      type: "boolean",
      help: "show the difference between log and window; with --dry-run, between this window and the next call's",
    },
    full: { type: "boolean", help: "list all overlays in force, all days and all names" },
  },
  maxOperands: 1,
  examples: [
    "longhaul context ticket-4711",
    "longhaul context ticket-4711 --model claude-sonnet-4-5 --system 3k --tools 9k --dry-run",
    "longhaul context ticket-4711 --diff",
    "longhaul context ticket-4711 --json",
  ],
  async run(context, { operands: [wanted], options }) {
    if (wanted === undefined) throw new UsageError('name a session; "longhaul sessions" lists them');
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    await using kernel = await openExistingStore(context, options, { onWarning });
    await using session = await kernel.session(
      await findSession(kernel, wanted, getSessionScope(context, options)),
    );
    const described = await openDescribedWindow(session, options);
    const report = await buildContextReport(session, described, {
      isDryRun: options["dry-run"] === true,
      hasDiff: options.diff === true,
      warnings,
      kernel,
    });
    if (options.json) {
      await printJson(context, toContextJson(report));
      return EXIT.fine;
    }
    if (!options.quiet) {
      for (const warning of report.warnings) context.stderr.write(`longhaul: ${escapeLine(warning)}\n`);
    }
    const lines = renderContext(report, {
      columns: context.columns.stdout,
      paint: choosePaint(context, options),
      isFull: options.full === true,
      isQuiet: options.quiet === true,
      now: Date.now(),
    });
    await printLines(context, lines);
    return EXIT.fine;
  },
});
