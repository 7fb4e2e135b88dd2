import { onTestFinished } from "vitest";
import { startChild } from "../../support/child.ts";
import type { WorkerArguments } from "./worker-process.ts";

const SCRIPT = new URL("./worker-process.ts", import.meta.url);

/** A worker process and its printed lines. */
export interface RunningWorker {
  readonly pid: number;
  readonly lines: readonly string[];
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has printed a line. */
  printed(line: string): Promise<void>;
  ended(): Promise<number | string>;
}

/** Starts a worker process; resolves when it takes tasks. */
export async function startWorker(options: WorkerArguments): Promise<RunningWorker> {
  const child = startChild(SCRIPT, [JSON.stringify(options)]);
  // A frozen process cannot be ended gently.
  onTestFinished(() => void child.process.kill("SIGKILL"));
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  void (async () => {
    for await (const line of child.lines) {
      lines.push(line);
      for (const look of waiting) look();
    }
  })();
  const printed = (line: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!lines.includes(line)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const ended = child.ended();
  await Promise.race([
    printed("ready"),
    ended.then((code) => {
      throw new Error(`A worker ended with ${code} before it was ready: ${child.errors()}`);
    }),
  ]);
  return {
    pid: child.process.pid as number,
    lines,
    signal: (signal) => void child.process.kill(signal),
    printed,
    ended: () => ended,
  };
}
