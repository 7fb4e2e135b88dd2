import type { Kernel } from "../../kernel/index.ts";
import { formatCount } from "../terminal/format-count.ts";
import type { Phase, PhaseBar } from "../terminal/phase-bar.ts";

/** The phases of indexing, with their usual durations. */
export const INDEX_PHASES: readonly Phase[] = [
  { name: "indexing", weight: 5 },
  { name: "embedding", weight: 3 },
];

/** Entries and chunks that were indexed. */
export interface IndexCounts {
  readonly entries: number;
  readonly chunks: number;
}

/** Indexes all conversations to their ends and shows the progress on a bar with INDEX_PHASES. */
export async function indexWithBar(kernel: Kernel, bar: PhaseBar, signal: AbortSignal): Promise<IndexCounts> {
  const { unindexed } = await kernel.memory.state();
  const entriesOf = new Map<string, number>();
  let covered = 0;
  let entries = 0;
  let chunks = 0;
  await kernel.memory.catchUp({
    signal,
    onProgress: (progress) => {
      // `progress.entries` is cumulative within a session.
      entries += progress.entries - (entriesOf.get(progress.session) ?? 0);
      entriesOf.clear();
      entriesOf.set(progress.session, progress.entries);
      chunks += progress.chunks;
      covered += progress.covered;
      bar.update("indexing", covered / Math.max(covered, unindexed), `${formatCount(entries)} messages`);
    },
    onEmbedded: (embedded, total) =>
      bar.update(
        "embedding",
        embedded / Math.max(1, total),
        `${formatCount(embedded)} of ${formatCount(total)} chunks`,
      ),
  });
  return { entries, chunks };
}
