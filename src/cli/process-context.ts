import { homedir } from "node:os";
import type { CliContext } from "./cli-context.ts";
import { runProgram } from "./program.ts";

/** The signal's exit code once a signal has stopped the process. */
interface ProcessStop {
  readonly exitCode: number | undefined;
}

const UNLIMITED = Number.POSITIVE_INFINITY;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Creates the context of this process. The first signal asks the command to stop; the second ends the process at once.
 */
export function createProcessContext(): { readonly context: CliContext; readonly stop: ProcessStop } {
  const controller = new AbortController();
  const stop: { exitCode: number | undefined } = { exitCode: undefined };
  const hangUps = new Set<() => void>();
  for (const [signal, exitCode] of Object.entries(SIGNALS)) {
    process.on(signal as NodeJS.Signals, () => {
      // A closing terminal ends its programs; without a terminal, somebody sent SIGHUP on purpose.
      const isTold = signal === "SIGHUP" && !process.stdin.isTTY && !process.stdout.isTTY && hangUps.size > 0;
      if (isTold) {
        for (const tell of hangUps) tell();
        return;
      }
      if (stop.exitCode !== undefined) process.exit(exitCode);
      stop.exitCode = exitCode;
      controller.abort();
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // EPIPE: the reader of our output has gone. Other errors surface at the next write.
      if (error.code === "EPIPE") controller.abort();
    });
  }
  const { stdin, stdout, stderr, env, platform } = process;
  const context: CliContext = {
    stdin,
    stdout,
    stderr,
    env,
    platform,
    cwd: process.cwd(),
    home: homedir(),
    isTerminal: { stdin: stdin.isTTY === true, stdout: stdout.isTTY === true, stderr: stderr.isTTY === true },
    columns: { stdout: stdout.columns || UNLIMITED, stderr: stderr.columns || UNLIMITED },
    rows: stdout.rows || UNLIMITED,
    signal: controller.signal,
    onHangUp(listener) {
      hangUps.add(listener);
      return () => void hangUps.delete(listener);
    },
  };
  return { context, stop };
}

/** Runs the program in this process, perhaps behind other streams than its own, and sets its exit code. */
export async function start(streams?: Pick<CliContext, "stdin" | "stdout">): Promise<void> {
  const { context, stop } = createProcessContext();
  const { stdin, stdout } = streams ?? context;
  const exitCode = await runProgram(process.argv.slice(2), { ...context, stdin, stdout });
  process.exitCode = stop.exitCode ?? exitCode;
}
