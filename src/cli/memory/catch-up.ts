import { isLonghaulError, type Kernel } from "../../index.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { formatCount } from "../count.ts";
import { StatusLine } from "./status-line.ts";

/** What an indexing of conversations did. */
export interface CaughtUp {
  readonly entries: number;
  readonly chunks: number;
}

/** Brings the index up to the end of all conversations, telling how far it is; Ctrl-C breaks it off and keeps what is done. */
export async function catchUp(kernel: Kernel, context: Context, options: CommonValues): Promise<CaughtUp> {
  const status = new StatusLine(context, options);
  const entriesOf = new Map<string, number>();
  let chunks = 0;
  let entries = 0;
  try {
    await kernel.memory.catchUp({
      signal: context.signal,
      onProgress: (progress) => {
        // What is told of a session is how far it has come.
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

/** The same for so long at most; what is left is indexed the next time. */
export async function catchUpFor(
  waitMs: number,
  kernel: Kernel,
  context: Context,
  options: CommonValues,
): Promise<void> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  try {
    await catchUp(kernel, { ...context, signal }, options);
  } catch (error) {
    if (context.signal.aborted || !isLonghaulError(error, "ABORTED")) throw error;
  }
}
