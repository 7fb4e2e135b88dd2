import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";

/** Time before an import that ended is started again; it doubles with each end, up to an hour. */
const RESTART_MS = 10_000;
const MAX_RESTART_MS = 3_600_000;
/** An import that ran for this long was well. */
const LONG_RUN_MS = 600_000;

/**
 * Imports new conversations of local agents until the gateway stops. The import runs in a process of its own: reading
 * a year of histories must not delay a request.
 */
export function keepHistories(
  { env, home, signal }: CliContext,
  { store }: CommonValues,
  warn: (message: string) => void,
): void {
  const args = ["import", "--yes", "--watch", "--quiet", ...(store === undefined ? [] : ["--store", store])];
  const begin = (delayMs: number) => {
    const begunAt = Date.now();
    const child = fork(fileURLToPath(resolveModuleFile("cli/main")), args, {
      cwd: home,
      env: { ...env },
      execArgv: ["--max-semi-space-size=4"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // The import watches this channel, so that it ends with the gateway even if that is killed.
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    child.on("error", () => undefined);
    child.on("exit", (code) => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) return;
      const next = Date.now() - begunAt > LONG_RUN_MS ? RESTART_MS : Math.min(delayMs * 2, MAX_RESTART_MS);
      warn(`the import of histories ended with code ${code}; it starts again in ${next / 1_000} s`);
      setTimeout(() => begin(next), next).unref();
    });
  };
  begin(RESTART_MS);
}
