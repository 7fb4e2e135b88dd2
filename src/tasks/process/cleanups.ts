import { constants } from "node:os";
import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { waitAtMost } from "../../model/base/time-limit.ts";
import type { Closable } from "../../model/lifetime.ts";

/** A resource to clean up before the process ends. */
interface ExitCleaner extends Closable {
  /** Synchronous cleanup for when the process can no longer wait. */
  closeNow?(): void;
}

const DEFAULT_GRACE_MS = 5_000;

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

/** Event that runs the cleanups: a signal, an uncaught error, an empty event loop, an exit, or a call. */
type CleanupReason = NodeJS.Signals | "uncaughtException" | "beforeExit" | "exit" | "call";

/** The part of `process` that is used here; injected so that tests can simulate an exit. */
export type EndingHost = Pick<
  NodeJS.Process,
  "on" | "removeListener" | "listenerCount" | "kill" | "exit" | "pid"
>;

/** Listens for all the ways the process can end. */
interface Endings {
  start(): void;
  stop(): void;
  isEnding(): boolean;
}

const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
const LAST_RESORT_MS = 200;

/**
 * Installs one listener for each way to end. Signals and errors that the program handles itself are left to it;
 * otherwise `run` is awaited, `finish` is called, and the default action follows. A second signal does not wait.
 */
function watchEndings(options: {
  readonly run: (reason: CleanupReason) => Promise<void>;
  readonly finish: () => void;
  readonly signals?: readonly NodeJS.Signals[];
  readonly host?: EndingHost;
}): Endings {
  const { run, finish, signals = SIGNALS, host = process } = options;
  let isListening = false;
  let ending: "signal" | "error" | undefined;

  const dieBy = (signal: NodeJS.Signals) => {
    finish();
    host.kill(host.pid, signal);
    // Default signal actions do not end PID 1 of a container.
    setTimeout(() => host.exit(128 + constants.signals[signal]), LAST_RESORT_MS);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (isHandledElsewhere(host, signal)) return;
    if (ending) return dieBy(signal);
    ending = "signal";
    void run(signal).finally(() => dieBy(signal));
  };
  const onError = (error: unknown) => {
    if (host.listenerCount("uncaughtException") > 1 || ending) return;
    ending = "error";
    void run("uncaughtException").finally(() => {
      finish();
      // With no listeners left, Node prints the error and exits as usual.
      setImmediate(() => {
        throw error;
      });
    });
  };
  const onBeforeExit = () => void run("beforeExit");
  const onExit = () => finish();

  return {
    start() {
      if (isListening) return;
      isListening = true;
      for (const signal of signals) host.on(signal, onSignal);
      host.on("uncaughtException", onError);
      host.on("beforeExit", onBeforeExit);
      host.on("exit", onExit);
    },
    stop() {
      if (!isListening) return;
      isListening = false;
      for (const signal of signals) host.removeListener(signal, onSignal);
      host.removeListener("uncaughtException", onError);
      host.removeListener("beforeExit", onBeforeExit);
      host.removeListener("exit", onExit);
    },
    isEnding: () => ending !== undefined,
  };
}

/**
 * Whether the program handles a signal itself. Listeners of the package `signal-exit` do not count: they end the
 * process only when there are no other listeners.
 */
function isHandledElsewhere(host: EndingHost, signal: NodeJS.Signals): boolean {
  return host.listenerCount(signal) - 1 > countPassiveListeners(host);
}

function countPassiveListeners(host: EndingHost): number {
  const places = host as unknown as Record<string | symbol, { count?: unknown } | undefined>;
  const emitters = new Set([places[Symbol.for("signal-exit emitter")], places.__signal_exit_emitter__]);
  return [...emitters].reduce((sum, emitter) => sum + (Number(emitter?.count) || 0), 0);
}

/**
 * Closes `cleaner` when the process is told to end, within `graceMs`, and then lets the process end as it otherwise
 * would. The same registry ends the programs of tasks afterwards. Returns a function that unregisters the cleaner.
 */
export function cleanUpOnExit(cleaner: ExitCleaner, graceMs = DEFAULT_GRACE_MS): () => void {
  checkFields("cleaner", cleaner, { close: "function", closeNow: "function?" });
  checkKind("graceMs", graceMs, "number");
  return processCleanups().add(() => cleaner.close(), { graceMs, onExit: () => cleaner.closeNow?.() });
}
