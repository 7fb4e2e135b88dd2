import { spawn } from "node:child_process";
import type { Command } from "./agents/agent.ts";

/** Exit and output of a program. */
export interface Ended {
  /** Null if it was killed. */
  readonly exitCode: number | null;
  readonly isTimedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** Characters kept of each stream's end. */
const MAX_KEPT = 8_000_000;

/** Runs a program until it exits or the deadline passes; its child processes end with it. */
export async function runProcess(
  { program, args, env }: Command,
  options: {
    readonly cwd: string;
    readonly baseEnv: NodeJS.ProcessEnv;
    readonly deadlineMs: number;
    /** When this resolves, the program gets SIGINT, as from Ctrl+C. */
    readonly interruptOn?: Promise<void>;
    /** When this resolves, the program and its child processes are killed. */
    readonly endOn?: Promise<unknown>;
  },
): Promise<Ended> {
  const { cwd, baseEnv, deadlineMs, interruptOn, endOn } = options;
  const begun = Date.now();
  // Its own process group, so that the whole tree can be killed by one id.
  const child = spawn(program, args, {
    cwd,
    env: { ...baseEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] = (said[name] + text).slice(-MAX_KEPT);
    });
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group is already gone.
    }
  };
  process.once("exit", endGroup);
  let hasEnded = false;
  void interruptOn?.then(() => {
    if (!hasEnded) child.kill("SIGINT");
  });
  void endOn?.then(() => {
    if (!hasEnded) endGroup();
  });
  let isTimedOut = false;
  const deadline = setTimeout(() => {
    isTimedOut = true;
    endGroup();
  }, deadlineMs);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      said.stderr += error.message;
      resolve(null);
    });
    // A leftover process may hold the streams open, so kill the group before waiting for them.
    child.once("exit", endGroup);
    child.once("close", (code) => resolve(code));
  });
  hasEnded = true;
  clearTimeout(deadline);
  process.off("exit", endGroup);
  return { exitCode, isTimedOut, ...said, durationMs: Date.now() - begun };
}
