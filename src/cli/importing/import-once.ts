import { type ImportOptions, type ImportReport, importSources } from "../../formats/index.ts";
import { openKernel } from "../../index.ts";
import { choosePaint } from "../choose-paint.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toSafeJson } from "../escape.ts";
import { getStorePath, openStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { ProgressBar } from "../progress-bar.ts";
import { getReportExitCode, renderImportReport } from "./render-import-report.ts";

/** Imports the current content of the paths, prints a report and returns the exit code. */
export async function importOnce(
  context: CliContext,
  options: CommonValues,
  paths: readonly string[],
  choice: Pick<ImportOptions, "formats" | "since" | "signal" | "dryRun">,
): Promise<number> {
  const { stdout, stderr, signal } = context;
  const isDryRun = choice.dryRun === true;
  const hasBar = context.isTerminal.stderr && !options.quiet;
  const bar = hasBar ? new ProgressBar(stderr, context.columns.stderr) : undefined;
  let report: ImportReport;
  {
    // A dry run needs no store and must not create one.
    await using kernel = await (isDryRun ? openKernel({ path: ":memory:" }) : openStore(context, options));
    try {
      report = await importSources(kernel, paths, {
        ...choice,
        onProgress: (progress) => bar?.update(progress),
      });
    } finally {
      bar?.clear();
    }
  }
  if (options.json) {
    const facts = { store: getStorePath(context, options), isDryRun, isStopped: signal.aborted };
    await printTo(stdout, `${toSafeJson({ ...facts, ...report })}\n`);
  } else {
    const lines = renderImportReport(report, {
      paint: choosePaint(context, options),
      width: context.columns.stdout,
      isDryRun,
      isStopped: signal.aborted,
      isQuiet: options.quiet === true,
    });
    await printTo(stdout, lines.map((line) => `${line}\n`).join(""));
  }
  return getReportExitCode(report);
}
