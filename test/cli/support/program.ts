import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { COMPILE_CACHE } from "../../support/compile-cache.ts";

/** The built program. */
export const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));

/** Less than the limit of a test, so that a wait in vain is reported with the missing text. */
const SAYS_LIMIT_MS = 100_000;

/** Result of a program run. */
export interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running program. */
export interface Running {
  readonly process: ReturnType<typeof spawn>;
  /** Resolves as soon as the output contains the text. */
  says(text: string): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Settings of a run; only the search path is inherited from the environment. */
export interface Setting {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  readonly nodeOptions?: readonly string[];
}

/** Starts the real program as a child process; it is killed with the test at the latest. */
export function startProgram(args: readonly string[], setting: Setting = {}): Running {
  // The flag that the program's first line passes to Node.
  const flags = ["--max-semi-space-size=8", ...(setting.nodeOptions ?? [])];
  return start(process.execPath, [...flags, MAIN, ...args], setting);
}

/** Runs the real program to its end. */
export function runProgram(args: readonly string[], setting?: Setting): Promise<Ended> {
  return startProgram(args, setting).ended;
}

/** Runs the program with `--json`; parses the output. */
export async function runJson(
  args: readonly string[],
  setting?: Setting,
): Promise<{ readonly code: number | string; readonly value: ReturnType<typeof JSON.parse> }> {
  const { code, stdout } = await runProgram([...args, "--json"], setting);
  return { code, value: JSON.parse(stdout) };
}

export function start(command: string, args: readonly string[], { env, cwd, input }: Setting): Running {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH ?? "", TZ: "UTC", ...COMPILE_CACHE, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (input !== undefined) child.stdin.end(input);
  let stdout = "";
  let stderr = "";
  let onOutput: () => void = () => undefined;
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    stdout += chunk;
    onOutput();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code: code ?? signal ?? "", stdout, stderr }));
  });
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const fail = () => reject(new Error(`${SAYS_LIMIT_MS / 1_000} s without ${text}:\n${stdout}${stderr}`));
      const limit = setTimeout(fail, SAYS_LIMIT_MS).unref();
      onOutput = () => {
        if (!stdout.includes(text)) return;
        clearTimeout(limit);
        resolve();
      };
      onOutput();
      ended.then(() => reject(new Error(`ended without saying ${text}:\n${stdout}${stderr}`)));
    });
  return { process: child, says, ended };
}
