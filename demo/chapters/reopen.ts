import type { StoreSize } from "../../src/kernel/faces/log.ts";
import { type Kernel, openKernel, type SessionId } from "../../src/kernel/index.ts";
import { formatCount } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";

/** Time to close and reopen, and the size on disk. */
export interface ReopenFigures {
  readonly closeMs: number;
  readonly openMs: number;
  readonly size: StoreSize;
}

/** Closes everything, reopens it and reads the last page, like a newly started process. */
export async function reopenCold(
  kernel: Kernel,
  where: { readonly path: string; readonly session: SessionId },
  { terminal }: Tour,
): Promise<ReopenFigures> {
  terminal.heading(
    "6. Close it, and come back",
    "Coming back reads the last page and nothing else, however long the log is.",
  );
  const session = await kernel.session(where.session);
  const last = (await session.page()).entries.at(-1);
  const close = await timed(() => kernel.close());
  terminal.fact("close the kernel", "", close.ms);

  const startedMs = performance.now();
  await using reopened = await openKernel({ path: where.path });
  const again = await reopened.session(where.session);
  const page = await again.page();
  const openMs = performance.now() - startedMs;
  terminal.fact(
    "open, session, page",
    `${page.entries.length} messages, up to entry ${formatCount(page.entries.at(-1)?.seq ?? 0)}`,
    openMs,
  );
  expect(page.entries.at(-1)?.id === last?.id, "a reopened conversation ends where it ended");
  return { closeMs: close.ms, openMs, size: await reopened.size() };
}
