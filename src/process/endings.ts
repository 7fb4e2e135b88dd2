import { constants } from "node:os";

/** Event that runs the cleanups: a signal, an uncaught error, an empty event loop, an exit, or a call. */
export type CleanupReason = NodeJS.Signals | "uncaughtException" | "beforeExit" | "exit" | "call";

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
export function watchEndings(options: {
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
