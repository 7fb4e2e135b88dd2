import { setImmediate } from "node:timers/promises";

/** How long work blocks the thread, in milliseconds of CPU time, which does not depend on the machine's load. */
export interface Hold {
  /** Total time of the work on this thread. */
  readonly cpuMs: number;
  /** Longest stretch in which the event loop could not run other work. */
  readonly longestMs: number;
}

/** Measures `work`. Asynchronous work is run a second time to find its longest stretch. */
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

/** Longest wait of a loop that requests a turn all the time; includes the cost of the loop itself. */
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
