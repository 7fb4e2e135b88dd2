import { setImmediate } from "node:timers/promises";

/** How work holds the one thread, in milliseconds of the thread's own CPU time, so that a loaded machine does not count. */
export interface Hold {
  /** All of the work on this thread. */
  readonly cpuMs: number;
  /** The longest stretch in which nobody else had a turn. */
  readonly longestMs: number;
}

/** Does the work, and again where it gives others their turn. */
export async function measureHold(work: () => unknown): Promise<Hold> {
  const before = process.threadCpuUsage();
  const result = work();
  if (!(result instanceof Promise)) {
    const cpuMs = cpuMsSince(before);
    return { cpuMs, longestMs: cpuMs };
  }
  await result;
  const cpuMs = cpuMsSince(before);
  return { cpuMs, longestMs: Math.min(cpuMs, await longestStretch(work)) };
}

/** The longest that somebody waits who asks for a turn all the time; asking takes time of its own. */
async function longestStretch(work: () => unknown): Promise<number> {
  let isDone = false;
  let longestMs = 0;
  const turns = async () => {
    while (!isDone) {
      const before = process.threadCpuUsage();
      await setImmediate();
      longestMs = Math.max(longestMs, cpuMsSince(before));
    }
  };
  const waiting = turns();
  await work();
  isDone = true;
  await waiting;
  return longestMs;
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
