import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A process of the cluster that is killed and started again at random: a gateway, a worker. */
export interface Actor {
  readonly name: string;
  /** Resolves when the process is ready; rejects if it ends before. */
  start(): Promise<void>;
  /** Ends the process without warning and waits until it is gone. */
  kill(): Promise<void>;
  /** Lines that the process wrote to its standard error since the last call. */
  takeErrors(): readonly string[];
}

/** Work that continues while actors die, and its own proof that nothing was lost. */
export interface Load {
  readonly name: string;
  /** Works until the signal fires; then finishes the pieces that it has begun. */
  run(signal: AbortSignal): Promise<void>;
  /** Number of finished pieces of work so far; the cluster waits for it to grow after the database is back. */
  readonly done: () => number;
  /** Called after the end, with all actors running: its figures; throws if something was lost, doubled or mixed. */
  verify(): Promise<Figures>;
}

/** Figures of a report by name. */
export type Figures = Readonly<Record<string, number>>;

const MAX_ERRORS = 200;

/** An actor that runs one of our scripts with one argument, as JSON; the script prints the line "ready" when it is. */
export function createProcessActor(name: string, script: URL, argument: object): Actor {
  let child: ReturnType<typeof spawn> | undefined;
  let errors: string[] = [];
  return {
    name,
    async start() {
      const started = spawn(process.execPath, [fileURLToPath(script), JSON.stringify(argument)], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      createInterface({ input: started.stderr }).on("line", (line) => {
        errors = [...errors, line].slice(-MAX_ERRORS);
      });
      await new Promise<void>((resolve, reject) => {
        createInterface({ input: started.stdout }).on("line", (line) => {
          if (line === "ready") resolve();
        });
        started.once("exit", (code, signal) =>
          reject(new Error(`${name} ended with ${signal ?? code}: ${errors.join("\n")}`)),
        );
      });
    },
    async kill() {
      const running = child;
      if (!running || running.exitCode !== null || running.signalCode !== null) return;
      const gone = new Promise((resolve) => running.once("exit", resolve));
      running.kill("SIGKILL");
      await gone;
    },
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken;
    },
  };
}
