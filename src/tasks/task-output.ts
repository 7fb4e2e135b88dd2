import type { Log } from "../log/log.ts";
import type { TaskRecord } from "../log/store/task-store.ts";
import { readRange } from "../log/view/page.ts";
import { tailEntries } from "../log/view/tail.ts";
import type { Entry } from "../model/entry.ts";
import { checkWholeNumber, LonghaulError } from "../model/errors.ts";
import type { Lifetime } from "../model/lifetime.ts";
import { isTerminal, type TaskId } from "../model/task.ts";
import { repeatAtInterval } from "./repeat-at-interval.ts";
import type { Timer } from "./timer.ts";

/** One entry of a task's session. */
export type TaskEntry = Entry;

/** Options for reading a task's output. */
export interface OutputOptions {
  /** Waits for new entries until the task has ended; otherwise ends with the entries that exist. */
  readonly block?: boolean;
  /** Ends the read, not the task. */
  readonly timeoutMs?: number;
  /** Skips entries up to and including this seq. */
  readonly since?: number;
  readonly signal?: AbortSignal;
}

/** Dependencies of `readTaskOutput`. */
interface TaskOutputDeps {
  readonly log: Log;
  readonly lifetime: Lifetime;
  readonly timer: Timer;
}

const PAGE_SIZE = 100;
/** How often a blocked read checks that the task still exists. */
const EXISTENCE_CHECK_MS = 2_000;

/** Reads a task's entries from the log, whichever process runs it: up to the entry that ended it, or up to now. */
export async function* readTaskOutput(
  { log, lifetime, timer }: TaskOutputDeps,
  task: TaskRecord,
  options: OutputOptions = {},
): AsyncGenerator<TaskEntry> {
  const after = Math.max(task.firstSeq - 1, checkWholeNumber("since", options.since ?? 0, 0));
  if (!options.block || isTerminal(task.state)) {
    yield* readPages(log, task, after, options.signal);
    return;
  }
  const over = new AbortController();
  const end = () => over.abort();
  const cancel = options.timeoutMs === undefined ? undefined : timer.after(options.timeoutMs, end);
  options.signal?.addEventListener("abort", end);
  if (options.signal?.aborted) end();
  let isGone = false;
  // A deleted session sends no event, so poll for it.
  const look = async () => {
    isGone = (await log.store.tasks.get(task.id)) === undefined;
    if (isGone) end();
  };
  const stopLooking = repeatAtInterval(timer, EXISTENCE_CHECK_MS, look, () => undefined);
  try {
    for await (const entry of tailEntries(log.store, task.session, lifetime, {
      after,
      signal: over.signal,
    })) {
      yield entry;
      if (isEndOfTask(entry, task.id)) return;
    }
    if (isGone) throw createTaskNotFoundError(task.id);
  } finally {
    stopLooking();
    cancel?.();
    options.signal?.removeEventListener("abort", end);
  }
}

async function* readPages(
  log: Log,
  task: TaskRecord,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<TaskEntry> {
  const to = task.lastSeq > 0 ? { to: task.lastSeq } : {};
  for (let from = after + 1; !signal?.aborted; ) {
    const page = await readRange(log.store.entries, task.session, { from, limit: PAGE_SIZE, ...to });
    yield* page;
    const last = page.at(-1);
    if (page.length < PAGE_SIZE || !last) return;
    from = last.seq + 1;
  }
}

function isEndOfTask(entry: Entry, id: string): boolean {
  return (
    entry.kind === "task" && entry.task === id && entry.note.type === "moved" && isTerminal(entry.note.to)
  );
}

/** The error for an unknown task. */
export function createTaskNotFoundError(id: TaskId): LonghaulError {
  return new LonghaulError(
    "TASK_NOT_FOUND",
    `There is no task ${JSON.stringify(id)}; it was never made, or its session has been deleted.`,
    { details: { task: id } },
  );
}
