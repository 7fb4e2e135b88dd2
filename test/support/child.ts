import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A child process that runs one of our TypeScript files, killed with the test at the latest. */
export interface Child {
  readonly process: ChildProcess;
  /** Printed lines as they arrive. */
  readonly lines: AsyncIterableIterator<string>;
  /** Standard error so far. */
  errors(): string;
  /** Its exit code, or the signal that ended it. */
  ended(): Promise<number | string>;
}

/** Starts a script with arguments. */
export function startChild(script: URL, args: readonly string[]): Child {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const exit = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    process: child,
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    errors: () => errors,
    ended: async () => {
      const [code, signal] = await exit;
      return signal ?? code;
    },
  };
}
