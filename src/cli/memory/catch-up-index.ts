import { isLonghaulError, type Kernel } from "../../index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { PhaseBar } from "../phase-bar.ts";
import { INDEX_PHASES, type IndexCounts, indexWithBar } from "./index-phases.ts";

/** Indexes all conversations to their ends and shows the progress; Ctrl-C stops it and keeps finished work. */
export async function catchUpIndex(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
): Promise<IndexCounts> {
  const bar = new PhaseBar(context, options, INDEX_PHASES);
  try {
    return await indexWithBar(kernel, bar, context.signal);
  } finally {
    bar.clear();
  }
}

/** Indexes conversations for at most `waitMs`; the rest is indexed by a later call. */
export async function catchUpIndexFor(
  waitMs: number,
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
): Promise<void> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  try {
    await catchUpIndex(kernel, { ...context, signal }, options);
  } catch (error) {
    if (context.signal.aborted || !isLonghaulError(error, "ABORTED")) throw error;
  }
}
