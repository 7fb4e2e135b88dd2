import type { Cleanups } from "./cleanups.ts";
import type { ProcessSnapshot, ProcessTable } from "./process-table.ts";
import { sendSignal } from "./process-table.ts";
import type { RunTree } from "./run-tree.ts";

/** A run that has not ended. */
interface LiveCommand {
  readonly tree: RunTree;
  readonly ended: Promise<unknown>;
  stop(): void;
}

const WATCH_MS = 2_000;
/** Maximum share of the time spent on watching. */
const WATCH_SHARE = 0.02;
const EXIT_ROUNDS = 3;

interface Watch {
  readonly live: Set<LiveCommand>;
  close(): void;
}

const watches = new WeakMap<Cleanups, Watch>();

/**
 * Ends a run together with this process, and polls all runs so that processes which leave the tree stay known. All runs
 * share one cleanup and one timer. Returns a function that unregisters the run.
 */
export function registerLiveCommand(
  command: LiveCommand,
  cleanups: Cleanups,
  table: ProcessTable,
): () => void {
  let watch = watches.get(cleanups);
  if (!watch) {
    watch = startWatch(cleanups, table);
    watches.set(cleanups, watch);
  }
  const { live, close } = watch;
  live.add(command);
  return () => {
    live.delete(command);
    if (live.size > 0) return;
    close();
    watches.delete(cleanups);
  };
}

function startWatch(cleanups: Cleanups, table: ProcessTable): Watch {
  const live = new Set<LiveCommand>();
  const remove = cleanups.add(
    async () => {
      for (const command of live) command.stop();
      await Promise.allSettled([...live].map((command) => command.ended));
    },
    { onExit: () => killNow([...live], table), isLast: true },
  );
  let timer: NodeJS.Timeout;
  const watchAgain = (delayMs: number) => {
    timer = setTimeout(async () => {
      const before = performance.now();
      try {
        const list = await table.list();
        for (const { tree } of live) tree.members(list);
      } catch {
        // A failed poll is harmless; the next one may succeed.
      }
      if (live.size > 0) watchAgain(Math.max(WATCH_MS, (performance.now() - before) / WATCH_SHARE));
    }, delayMs).unref();
  };
  watchAgain(WATCH_MS / 4);
  return {
    live,
    close() {
      clearTimeout(timer);
      remove();
    },
  };
}

/** Kills everything synchronously while the process exits. */
function killNow(live: readonly LiveCommand[], table: ProcessTable): void {
  for (const { tree } of live) if (!tree.hasLeaderExited) sendSignal(-tree.leader.pid, "SIGKILL");
  for (let round = 0; round < EXIT_ROUNDS; round++) {
    const list = listNow(table);
    if (!list) return;
    const members = live.flatMap(({ tree }): ProcessSnapshot[] => tree.members(list));
    for (const signal of ["SIGSTOP", "SIGKILL"] as const)
      for (const member of members) void table.signal(member, signal);
    if (members.length === 0) return;
  }
}

/** The process list if it is available synchronously; an exiting process cannot wait. */
function listNow(table: ProcessTable): readonly ProcessSnapshot[] | undefined {
  try {
    const list = table.list();
    return list instanceof Promise ? undefined : list;
  } catch {
    return undefined;
  }
}
