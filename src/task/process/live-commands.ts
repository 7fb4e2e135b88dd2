import type { Cleanups } from "./cleanups.ts";
import type { ProcessTable, SeenProcess } from "./process-table.ts";
import { sendSignal } from "./process-table.ts";
import type { RunTree } from "./run-tree.ts";

/** A run that has not ended. */
export interface LiveCommand {
  readonly tree: RunTree;
  readonly ended: Promise<unknown>;
  stop(): void;
}

const WATCH_MS = 2_000;
/** Watching takes at most this share of the time. */
const WATCH_SHARE = 0.02;
const EXIT_ROUNDS = 3;

interface Watch {
  readonly live: Set<LiveCommand>;
  close(): void;
}

const watches = new WeakMap<Cleanups, Watch>();

/**
 * Sees to it that a run ends with this process, and looks at all runs from time to time, to know also those that leave
 * the tree. Returns how to let go of it. However many run, there are one clean-up and one timer.
 */
export function keepAlive(command: LiveCommand, cleanups: Cleanups, table: ProcessTable): () => void {
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
        // Nobody waits for this look; the next one may see more.
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

/** The last resort while the process exits: everything at once, nothing awaited. */
function killNow(live: readonly LiveCommand[], table: ProcessTable): void {
  for (const { tree } of live) if (!tree.hasLeaderExited) sendSignal(-tree.leader.pid, "SIGKILL");
  for (let round = 0; round < EXIT_ROUNDS; round++) {
    const list = listNow(table);
    if (!list) return;
    const members = live.flatMap(({ tree }): SeenProcess[] => tree.members(list));
    for (const signal of ["SIGSTOP", "SIGKILL"] as const)
      for (const member of members) void table.signal(member, signal);
    if (members.length === 0) return;
  }
}

/** The list, if it can be had at once: where looking takes time there is none left for it. */
function listNow(table: ProcessTable): readonly SeenProcess[] | undefined {
  try {
    const list = table.list();
    return list instanceof Promise ? undefined : list;
  } catch {
    return undefined;
  }
}
