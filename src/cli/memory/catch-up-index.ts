import { isLonghaulError, type Kernel } from "../../index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { formatCount } from "../format-count.ts";
import { StatusLine } from "../status-line.ts";

/** Entries and chunks that were indexed. */
interface IndexCounts {
  readonly entries: number;
  readonly chunks: number;
}

/** Indexes all conversations to their ends and shows the progress; Ctrl-C stops it and keeps finished work. */
export async function catchUpIndex(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues,
): Promise<IndexCounts> {
  const status = new StatusLine(context, options);
  const entriesOf = new Map<string, number>();
  let chunks = 0;
  let entries = 0;
  try {
    await kernel.memory.catchUp({
      signal: context.signal,
      onProgress: (progress) => {
        // `progress.entries` is cumulative within a session.
        entries += progress.entries - (entriesOf.get(progress.session) ?? 0);
        entriesOf.clear();
        entriesOf.set(progress.session, progress.entries);
        chunks += progress.chunks;
        status.update(
          () =>
            `Indexing conversations: ${formatCount(entries)} entries, ${formatCount(chunks)} chunks  ${progress.session}`,
        );
      },
    });
  } finally {
    status.clear();
  }
  return { entries, chunks };
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
