import type { Closable } from "../model/scope.ts";

/** Something to be cleaned up before the process ends. */
export interface ExitCleaner extends Closable {
  /** What can be done without waiting, when nothing else is possible any more. */
  closeNow?(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const DEFAULT_GRACE_MS = 5_000;

const cleaners = new Map<ExitCleaner, number>();
let isEnding = false;

/**
 * Cleans up when the process is told to end, within a time of grace, and then lets it end as it would have. Listeners are
 * there only while something is registered. Returns the function that takes the registration back.
 */
export function cleanUpOnExit(cleaner: ExitCleaner, graceMs = DEFAULT_GRACE_MS): () => void {
  if (cleaners.size === 0) {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    process.on("exit", onExit);
  }
  cleaners.set(cleaner, graceMs);
  return () => {
    if (!cleaners.delete(cleaner) || cleaners.size > 0 || isEnding) return;
    stopListening();
  };
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
  process.off("exit", onExit);
}

async function onSignal(signal: NodeJS.Signals): Promise<void> {
  // Other listeners decide about the process themselves; only when there are none would it have ended by now.
  const isOursAlone = process.listenerCount(signal) === 1;
  // Who asks a second time does not want to wait.
  if (isEnding && isOursAlone) endBy(signal);
  if (isEnding) return;
  isEnding = true;
  const closing = [...cleaners.keys()].reverse().map(async (cleaner) => cleaner.close());
  const graceMs = Math.max(...cleaners.values(), 0);
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.allSettled(closing), grace]);
  clearTimeout(timer);
  isEnding = false;
  if (isOursAlone) endBy(signal);
}

function endBy(signal: NodeJS.Signals): void {
  onExit();
  stopListening();
  process.kill(process.pid, signal);
}

function onExit(): void {
  for (const cleaner of [...cleaners.keys()].reverse()) {
    try {
      cleaner.closeNow?.();
    } catch {
      // One that fails must not keep the others from their last chance, and nobody is left to be told.
    }
  }
  cleaners.clear();
}
