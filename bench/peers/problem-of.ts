import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** Waits for a process; returns undefined on success, else its first output line that states a reason. */
export async function problemOf(
  child: ChildProcess,
  reason: RegExp,
  onLine: (line: string) => void,
): Promise<string | undefined> {
  let found: string | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      found ??= reason.exec(line)?.[1];
      if (line !== "") onLine(line);
    });
  }
  return await new Promise((resolve) => {
    child.once("error", (error) => {
      // A process past its deadline is killed, but its end must still be awaited.
      if (error.name === "AbortError") found = "it took too long.";
      else resolve(error.message);
    });
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : (found ?? `it ended with ${signal ?? `exit code ${code}`}.`)),
    );
  });
}
