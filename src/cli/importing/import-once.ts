import {
  type ImportOptions,
  type ImportProgress,
  type ImportReport,
  importSources,
} from "../../histories/index.ts";
import { type Kernel, openKernel } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { INDEX_PHASES, type IndexCounts, indexWithBar } from "../memory/index-phases.ts";
import { getStorePath, openStore } from "../open-store.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatCount } from "../terminal/format-count.ts";
import { PhaseBar } from "../terminal/phase-bar.ts";
import { printTo } from "../terminal/printer.ts";
import { getReportExitCode, renderImportReport } from "./render-import-report.ts";

/** Choices of an import. */
interface ImportChoice
  extends Pick<ImportOptions, "formats" | "since" | "signal" | "dryRun" | "withForgotten"> {
  /** True if the person has agreed to everything beforehand, which is no answer about a working tree. */
  readonly isAgreed?: boolean;
  /** False to leave the index to the next recall. */
  readonly isIndexed: boolean;
  /** Further work on the imported conversations, while they are indexed. */
  readonly whileIndexing?: (kernel: Kernel, bar: PhaseBar) => Promise<void>;
}

const IMPORT_PHASE = { name: "importing", weight: 4 };

/** Imports the current content of the paths, builds the index, prints a report and returns the exit code. */
export async function importOnce(
  context: CliContext,
  options: CommonValues,
  paths: readonly string[],
  { isIndexed, whileIndexing, ...choice }: ImportChoice,
): Promise<number> {
  const { stdout, signal, home, platform, env } = context;
  const isDryRun = choice.dryRun === true;
  const hasIndex = isIndexed && !isDryRun;
  const bar = new PhaseBar(context, options, hasIndex ? [IMPORT_PHASE, ...INDEX_PHASES] : [IMPORT_PHASE]);
  const answers = new Map<string, Promise<boolean>>();
  const mayImportTree = (path: string, tree: string): Promise<boolean> => {
    bar.clear();
    const answer = answers.get(tree) ?? askAboutTree(context, options, path, tree, choice.isAgreed === true);
    answers.set(tree, answer);
    return answer;
  };
  let report: ImportReport;
  let indexed: IndexCounts | undefined;
  {
    // A dry run needs no store and must not create one.
    await using kernel = await (isDryRun ? openKernel({ path: ":memory:" }) : openStore(context, options));
    try {
      report = await importSources(kernel, paths, {
        ...choice,
        withOriginals: !isDryRun,
        system: { home, platform, env },
        mayImportTree,
        onProgress: (progress) => {
          const { index, count } = progress;
          const words = `${formatCount(Math.min(index + 1, count))} of ${formatCount(count)} conversations`;
          bar.update("importing", computeImportShare(progress), words);
        },
      });
      if (hasIndex && !signal.aborted) {
        // A failure of the further work costs that work alone.
        const other = whileIndexing?.(kernel, bar).catch(() => undefined);
        indexed = await buildIndex(kernel, context, bar);
        await other;
      }
    } finally {
      bar.clear();
    }
  }
  if (options.json) {
    const facts = { store: getStorePath(context, options), isDryRun, isStopped: signal.aborted };
    await printTo(stdout, `${toSafeJson({ ...facts, ...report, ...dropUndefined({ indexed }) })}\n`);
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

/** Asks about the histories of one working tree. Nobody agrees to them beforehand: a repository may bring them along. */
async function askAboutTree(
  context: CliContext,
  options: CommonValues,
  path: string,
  tree: string,
  isAgreed: boolean,
): Promise<boolean> {
  const { isTerminal } = context;
  if (isAgreed || options.json || options.quiet || !isTerminal.stdin || !isTerminal.stdout) return false;
  context.stdout.write(
    `${escapeLine(path)} lies in the working tree ${escapeLine(tree)}. Whoever wrote that repository may have put it there, and agents would take its words for yours.\n`,
  );
  return askYesNo(context, `Import the histories of ${escapeLine(tree)}?`);
}

/** Builds the index; a failure costs the index only, because the next recall continues it. */
async function buildIndex(
  kernel: Kernel,
  { signal, stderr }: CliContext,
  bar: PhaseBar,
): Promise<IndexCounts | undefined> {
  try {
    return await indexWithBar(kernel, bar, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    bar.clear();
    const reason = error instanceof Error ? error.message : String(error);
    stderr.write(`longhaul: the index is incomplete, the next recall continues it: ${escapeLine(reason)}\n`);
    return undefined;
  }
}

/** The share of an import that is done. Compressed sources yield more bytes than they have on disk, so they count in conversations. */
export function computeImportShare({ bytesRead, totalBytes, index, count }: ImportProgress): number {
  if (totalBytes > 0 && bytesRead <= totalBytes) return bytesRead / totalBytes;
  return count > 0 ? index / count : 0;
}
