import { waitAtMost } from "../base/time-limit.ts";
import { type CleanupReason, type EndingHost, watchEndings } from "./endings.ts";

/** Work to do before the process ends. */
type Cleanup = (reason: CleanupReason) => Promise<void> | void;

/** Options of a cleanup registry. */
interface CleanupsOptions {
  /** Signals that run the cleanups unless the program itself handles them; SIGINT, SIGTERM and SIGHUP by default. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Time limit for all cleanups together (5 s), and for each (2 s). */
  readonly graceMs?: number;
  readonly eachMs?: number;
  /** Called for cleanups that fail or take too long; a no-op by default. */
  readonly onFailure?: (error: unknown) => void;
  readonly host?: EndingHost;
}

/** Options of one cleanup. */
interface CleanupOptions {
  /** Called if the process ends before the work is done; must be synchronous. */
  readonly onExit?: () => void;
  /** Time limit of this cleanup instead of `eachMs`. */
  readonly graceMs?: number;
  /** Runs after all others, so that gentler cleanups come first. */
  readonly isLast?: boolean;
}

/** Registry of work to do before this process ends, however it ends. */
export interface Cleanups {
  /**
   * Registers work and returns a function that unregisters it. Cleanups run one at a time, last registered first; one
   * that exceeds its time limit does not block the next.
   */
  add(work: Cleanup, options?: CleanupOptions): () => void;
  /** Runs all registered work once; for programs that handle signals themselves. */
  run(reason?: CleanupReason): Promise<void>;
  /** Number of registered cleanups. */
  readonly size: number;
}

interface CleanupEntry {
  readonly work: Cleanup;
  readonly options: CleanupOptions;
  isStarted: boolean;
}

/** Creates a registry. It listens to signals only while something is registered. */
export function createCleanups(options: CleanupsOptions = {}): Cleanups {
  const { graceMs = 5_000, eachMs = 2_000, onFailure = () => {} } = options;
  const entries = new Set<CleanupEntry>();
  let running: Promise<void> | undefined;

  const runAll = async (reason: CleanupReason) => {
    const graces = [...entries].map((entry) => entry.options.graceMs ?? 0);
    const end = performance.now() + Math.max(graceMs, ...graces);
    // A process that has nothing left to do may go on after all; work that it registers then is for its real end.
    const due = reason === "beforeExit" ? new Set(entries) : entries;
    for (let entry = findNext(due); entry; entry = findNext(due)) {
      entry.isStarted = true;
      if (!entries.has(entry)) continue;
      const leftMs = Math.max(0, Math.min(entry.options.graceMs ?? eachMs, end - performance.now()));
      if (await runCleanup(entry, reason, leftMs, onFailure)) remove(entry);
    }
  };
  const run = (reason: CleanupReason = "call") => {
    running ??= runAll(reason).finally(() => {
      running = undefined;
    });
    return running;
  };
  /** Runs the synchronous part of all unfinished cleanups. */
  const finish = () => {
    for (const entry of [...entries].reverse()) {
      entries.delete(entry);
      try {
        if (entry.options.onExit) entry.options.onExit();
        else if (!entry.isStarted) void Promise.resolve(entry.work("exit")).catch(onFailure);
      } catch (error) {
        onFailure(error);
      }
    }
    endings.stop();
  };
  const endings = watchEndings({ ...options, run, finish });
  const remove = (entry: CleanupEntry) => {
    entries.delete(entry);
    if (entries.size === 0 && !endings.isEnding()) endings.stop();
  };
  return {
    add(work, options = {}) {
      const entry = { work, options, isStarted: false };
      entries.add(entry);
      endings.start();
      return () => remove(entry);
    },
    run,
    get size() {
      return entries.size;
    },
  };
}

let sharedCleanups: Cleanups | undefined;

/** The registry of this process. */
export function processCleanups(): Cleanups {
  sharedCleanups ??= createCleanups();
  return sharedCleanups;
}

function findNext(entries: ReadonlySet<CleanupEntry>): CleanupEntry | undefined {
  const waiting = [...entries].filter((entry) => !entry.isStarted);
  return waiting.findLast((entry) => !entry.options.isLast) ?? waiting.at(-1);
}

/** Returns whether the work finished in time; a failure counts as finished. */
async function runCleanup(
  entry: CleanupEntry,
  reason: CleanupReason,
  timeoutMs: number,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  const work = (async () => entry.work(reason))().then(
    () => true,
    (error) => {
      onFailure(error);
      return true;
    },
  );
  if (await waitAtMost(timeoutMs, work)) return true;
  onFailure(new Error(`A clean-up took longer than ${Math.round(timeoutMs)} ms and was left.`));
  return false;
}
