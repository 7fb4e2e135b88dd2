import { type Kernel, openKernel, type SessionId, type StoreSize } from "../../src/index.ts";
import { formatCount } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";

/** How long it takes to come back, and what lies on disk then. */
export interface ReopenFigures {
  readonly closeMs: number;
  readonly openMs: number;
  readonly size: StoreSize;
}

/** Closes everything, opens it again and reads the last page, as a process does that has just started. */
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
